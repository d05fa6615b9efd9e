import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { MessageSquareText, Route, Table2 } from 'lucide-react'
import { Button } from '../../parts/button/button.tsx'
import { dropNewDraft, newDrafts } from '../../parts/drafts/new-drafts.ts'
import { places } from '../../shell/places.ts'
import { useSession } from '../../shell/session.tsx'
import styles from './home.module.css'

interface DoorsProps {
  readonly write: () => void
  readonly bring: () => void
  readonly takeTour: () => void
}

/** Three ways to begin, for a project with nothing in it. */
export function Doors({ write, bring, takeTour }: DoorsProps) {
  return (
    <section className={styles.doors} aria-label="Ways to begin">
      <div>
        <h2>
          <MessageSquareText size={18} aria-hidden /> Write a prompt
        </h2>
        <p>Start from a template, see it answer, and save it when you like it.</p>
        <Button kind="primary" needs="write" onClick={write}>
          Write a prompt
        </Button>
      </div>
      <div>
        <h2>
          <Table2 size={18} aria-hidden /> Bring a testset
        </h2>
        <p>A spreadsheet of questions and the answers you expect: CSV, Excel, JSON or JSONL.</p>
        <Button needs="write" onClick={bring}>
          Choose a file
        </Button>
      </div>
      <div>
        <h2>
          <Route size={18} aria-hidden /> Take the tour
        </h2>
        <p>Two minutes: a prompt, a testset and an evaluation. It needs no provider key.</p>
        <Button onClick={takeTour}>Take the tour</Button>
      </div>
    </section>
  )
}

/** What was begun in this browser and never saved on the server. */
export function NewDrafts() {
  const { project } = useSession()
  const cache = useQueryClient()
  const key = ['new drafts', project]
  const { data = [] } = useQuery({ queryKey: key, queryFn: () => newDrafts(project), networkMode: 'always' })
  if (data.length === 0) return null
  return (
    <section className={styles.drafts} aria-label="Not saved yet">
      <h2>Not saved yet</h2>
      <ul>
        {data.map((draft) => (
          <li key={draft.slug}>
            <Link to={places.edit(draft.slug, draft.slug)} dir="auto">
              {draft.name || draft.slug}
            </Link>
            <span>{draft.kind === 'evaluators' ? 'evaluator' : 'prompt'}, only in this browser</span>
            <Button
              kind="quiet"
              aria-label={`Discard ${draft.name || draft.slug}`}
              onClick={() =>
                void dropNewDraft(project, draft).then(() => cache.invalidateQueries({ queryKey: key }))
              }
            >
              Discard
            </Button>
          </li>
        ))}
      </ul>
    </section>
  )
}

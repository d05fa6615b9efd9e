import { Link } from '@tanstack/react-router'
import { ChevronDown, ChevronRight, Link2 } from 'lucide-react'
import { useState } from 'react'
import type { Ask } from '../../api/call.ts'
import { useRoute } from '../../api/use-route.ts'
import { places } from '../../shell/places.ts'
import { Fold } from '../fold/fold.tsx'
import { JsonView } from '../json/json-view.tsx'
import { RevisionChip } from '../revision-chip/revision-chip.tsx'
import { Failure } from '../states/failure.tsx'
import { type EmbedReferences, sourceOf } from './embed-source.ts'
import styles from './prompt.module.css'

type Resolve = Ask<'POST /workflows/revisions/resolve'>

/** What is embedded: folded to where it comes from; unfolded, what it is now. */
export function Embed({ of }: { readonly of: unknown }) {
  const [isOpen, setOpen] = useState(false)
  const { name, path } = sourceOf(of)
  return (
    <span className={styles.embed}>
      <button
        type="button"
        aria-expanded={isOpen}
        className={styles.embedHead}
        title={typeof of === 'string' ? of : JSON.stringify(of)}
        onClick={() => setOpen(!isOpen)}
      >
        <Link2 size={13} aria-hidden />
        <span className="visually-hidden">Embedded: </span>
        {name}
        {path !== undefined && <span className={styles.path}>{path}</span>}
        {isOpen ? <ChevronDown size={13} aria-hidden /> : <ChevronRight size={13} aria-hidden />}
      </button>
      {isOpen && <Embedded of={of} />}
    </span>
  )
}

function Embedded({ of }: { readonly of: unknown }) {
  const { references } = sourceOf(of)
  const body = {
    workflow_revision: { data: { parameters: { value: of } } },
    error_policy: 'exception',
  } as Resolve['body']
  const { data, error } = useRoute('POST /workflows/revisions/resolve', { body })
  if (error) return <Failure error={error} />
  if (!data) return <span className={styles.from}>Looking it up …</span>
  const resolved = data.workflow_revision.data as { readonly parameters?: { readonly value?: unknown } }
  const value = resolved.parameters?.value
  return (
    <span className={styles.embedded}>
      {typeof value === 'string' ? <Fold text={value} /> : <JsonView value={value} />}
      {references && <Source references={references} />}
    </span>
  )
}

/** The revision that it is taken from now. */
function Source({ references }: { readonly references: EmbedReferences }) {
  const { data } = useRoute('POST /workflows/revisions/retrieve', { body: references })
  if (!data) return null
  const { workflow_slug: artifact, slug, version, author, date } = data.workflow_revision
  return (
    <span className={styles.from}>
      from <Link to={places.artifact(artifact)}>{artifact}</Link>{' '}
      <RevisionChip
        to={places.revision(artifact, slug)}
        version={Number(version)}
        author={author}
        date={date}
        environments={references.environment_ref?.slug === undefined ? [] : [references.environment_ref.slug]}
      />
    </span>
  )
}

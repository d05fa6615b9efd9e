import { useNavigate } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { useRoute, useWrite } from '../../api/use-route.ts'
import { FormDialog } from '../../parts/dialog/dialog.tsx'
import { TextField } from '../../parts/fields/fields.tsx'
import { conditionsOf, NO_DRAFTS, type TraceQuery } from '../../parts/waterfall/trace-search.ts'
import { places } from '../../shell/places.ts'
import styles from './traces.module.css'

interface SaveSearchProps {
  readonly filters: TraceQuery
  /** The slug of the query that is changed, if one is. */
  readonly query: string | undefined
  readonly close: () => void
}

/** Makes a query of the filters, or a version of the query that is changed, and opens it. */
export function SaveSearch({ filters, query, close }: SaveSearchProps) {
  const [name, setName] = useState('')
  const [typed, setTyped] = useState<string>()
  const make = useWrite('POST /simple/queries')
  const change = useWrite('PUT /simple/queries/{id}')
  const known = useRoute('GET /queries/{id}', { path: { id: query ?? '' } }, { enabled: query !== undefined })
  const navigate = useNavigate()
  const saved = useRef(false)
  const leave = (): void => (saved.current ? void navigate({ to: places.query(query ?? id) }) : close())
  const id = typed ?? idOf(name)
  const left = [
    ...(filters.since === undefined && filters.before === undefined ? [] : ['the time']),
    ...(filters.approved === undefined ? [] : ['the feedback']),
  ]
  async function save(): Promise<void> {
    const conditions = [...conditionsOf(filters), ...(filters.drafts === undefined ? [NO_DRAFTS] : [])]
    const data = { filtering: { conditions } }
    const own = known.data?.query.id
    if (query !== undefined && own !== undefined)
      await change.mutateAsync({ path: { id: own }, body: { query: { id: own, data } } })
    else await make.mutateAsync({ body: { query: { slug: id, name: name.trim(), data } } })
    saved.current = true
  }
  const lost = left.length > 0 && <p className="muted">A query does not keep {left.join(' and ')}.</p>
  if (query !== undefined) {
    return (
      <FormDialog
        title={`Save to ${query}`}
        action="Save version"
        needs="write"
        refusal={known.data ? undefined : (known.error?.message ?? 'The query is loading.')}
        submit={save}
        close={leave}
      >
        <p>These filters become the newest version of the query. Its older versions stay.</p>
        {lost}
      </FormDialog>
    )
  }
  return (
    <FormDialog
      title="Save this search"
      action="Save as a query"
      needs="write"
      refusal={name.trim() === '' ? 'Give it a name first.' : id === '' ? 'Give it an ID first.' : undefined}
      submit={save}
      close={leave}
    >
      {(problemOf) => (
        <>
          <p className={styles.explained}>
            A query keeps the filters with their history, and shows what they find now.
          </p>
          <TextField label="Name" autoFocus value={name} onChange={setName} problem={problemOf('name')} />
          <TextField
            label="ID"
            hint="Used in code and links. It can't be changed later."
            value={id}
            onChange={setTyped}
            problem={problemOf('slug')}
          />
          {lost}
        </>
      )}
    </FormDialog>
  )
}

/** An ID made of a name: `Slow answers` gives `slow-answers`. */
function idOf(name: string): string {
  return name
    .normalize('NFD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 60)
}

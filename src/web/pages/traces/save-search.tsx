import { useNavigate } from '@tanstack/react-router'
import { useRef } from 'react'
import { useRoute, useWrite } from '../../api/use-route.ts'
import { FormDialog } from '../../parts/dialog/dialog.tsx'
import { conditionsOf, NO_DRAFTS, type TraceQuery } from '../../parts/waterfall/trace-search.ts'
import { places } from '../../shell/places.ts'
import styles from './traces.module.css'
import { NameAndId, useNamed } from '../../parts/fields/name-and-id.tsx'

interface SaveSearchProps {
  readonly filters: TraceQuery
  /** The slug of the query that is changed, if one is. */
  readonly query: string | undefined
  readonly close: () => void
}

/** Makes a query of the filters, or a version of the query that is changed, and opens it. */
export function SaveSearch({ filters, query, close }: SaveSearchProps) {
  const named = useNamed()
  const make = useWrite('POST /simple/queries')
  const change = useWrite('PUT /simple/queries/{id}')
  const known = useRoute('GET /queries/{id}', { path: { id: query ?? '' } }, { enabled: query !== undefined })
  const navigate = useNavigate()
  const saved = useRef(false)
  const leave = (): void => (saved.current ? void navigate({ to: places.query(query ?? named.id) }) : close())
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
    else await make.mutateAsync({ body: { query: { slug: named.id, name: named.name.trim(), data } } })
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
      refusal={named.name.trim() === '' ? 'Give it a name first.' : named.refusal}
      submit={save}
      close={leave}
    >
      {(problemOf) => (
        <>
          <p className={styles.explained}>
            A query keeps the filters with their history, and shows what they find now.
          </p>
          <NameAndId named={named} problem={problemOf('slug')} />
          {lost}
        </>
      )}
    </FormDialog>
  )
}

import { Link } from '@tanstack/react-router'
import { X } from 'lucide-react'
import { useState } from 'react'
import { usePages } from '../../api/use-route.ts'
import { MoreButton } from '../../parts/button/button.tsx'
import { authorName } from '../../parts/chips/chips.tsx'
import { JsonView } from '../../parts/json/json-view.tsx'
import { Failure, Skeleton } from '../../parts/states/states.tsx'
import { Fold } from '../../parts/text/text.tsx'
import { Ago } from '../../parts/time/time.tsx'
import { places } from '../../shell/places.ts'
import { type Row, KEY_COLUMN, type TestsetRevision } from './rows.ts'
import styles from './testset.module.css'

interface TestsetRowProps {
  readonly slug: string
  readonly revision: TestsetRevision
  readonly dedupId: string
  /** The loaded row; undefined if it is not visible. */
  readonly row: Row | undefined
  readonly close: () => void
}

/** The history of one row, newest first. */
export function TestsetRow({ slug, revision, dedupId, row, close }: TestsetRowProps) {
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = usePages(
    'POST /testsets/rows/history',
    {
      body: {
        testset_variant_ref: { id: revision.testset_variant_id },
        dedup_id: dedupId,
        windowing: { limit: 20 },
      },
    },
  )
  const changes = data?.pages.flatMap((page) => page.changes) ?? []
  return (
    <aside className={`card ${styles.panel}`} aria-label="History of the row">
      <header>
        <div>
          <h2>History of the row</h2>
          <code className="muted">{dedupId}</code>
        </div>
        <button
          type="button"
          className="icon-button"
          onClick={close}
          aria-label="Close the history"
          title="Close"
        >
          <X size={16} aria-hidden />
        </button>
      </header>
      <div className={styles.changes} tabIndex={0} role="region" aria-label="Changes of the row">
        {row && <Extras row={row} />}
        {error && <Failure error={error} retry={refetch} />}
        {!data && !error && <Skeleton label="Loading the history" />}
        {data && changes.length === 0 && (
          <p className="muted">No version of {revision.testset_variant_slug} has had this row.</p>
        )}
        <ol>
          {changes.map((change, at) => {
            const older = changes[at + 1]
            const isKnown = change.kind !== 'changed' || older !== undefined
            return (
              <li key={change.revision.id} className={styles.change}>
                <p className={styles.by}>
                  <Link
                    to={places.testsetVersion(
                      slug,
                      revision.testset_variant_slug,
                      Number(change.revision.version),
                    )}
                  >
                    <b>v{change.revision.version}</b>
                  </Link>
                  <span className={styles.kind} data-kind={change.kind}>
                    {change.kind}
                  </span>
                  <span className="muted" title={change.author}>
                    {authorName(change.author)}
                  </span>
                  <span className="muted">
                    <Ago date={change.date} />
                  </span>
                </p>
                {change.kind !== 'removed' && isKnown && (
                  <CellChanges
                    changes={cellChanges(change.kind === 'added' ? undefined : older?.data, change.data)}
                  />
                )}
              </li>
            )
          })}
        </ol>
        <MoreButton of={{ hasNextPage, isFetchingNextPage, fetchNextPage }}>Show older changes</MoreButton>
      </div>
    </aside>
  )
}

/** The row's flags, tags and meta in this version. */
function Extras({ row }: { readonly row: Row }) {
  const has = (['flags', 'tags', 'meta'] as const).filter((name) => row[name] !== undefined)
  if (has.length === 0) return null
  return (
    <section aria-label="Flags, tags and meta" className={styles.extras}>
      {has.map((name) => (
        <JsonView key={name} name={name} value={row[name]} />
      ))}
    </section>
  )
}

/** A changed cell; undefined where the row had none. */
interface CellChange {
  readonly column: string
  readonly before: string | undefined
  readonly after: string | undefined
}

type Values = Readonly<Record<string, unknown>>

/** The cells that differ between two versions of a row. */
function cellChanges(before: Values | undefined, after: Values | undefined): readonly CellChange[] {
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])
  names.delete(KEY_COLUMN)
  return [...names].flatMap((column) => {
    const change = { column, before: textOf(before, column), after: textOf(after, column) }
    return change.before === change.after ? [] : change
  })
}

/** A cell as text; quotes distinguish texts from JSON. */
function textOf(values: Values | undefined, column: string): string | undefined {
  if (!values || !Object.hasOwn(values, column)) return undefined
  const value = values[column]
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2)
}

const CELLS_SHOWN_AT_FIRST = 12

/** The old and new values of cells. */
function CellChanges({ changes }: { readonly changes: readonly CellChange[] }) {
  const [most, setMost] = useState(CELLS_SHOWN_AT_FIRST)
  if (changes.length === 0)
    return <p className="muted">Flags, tags, meta or the order changed; no cell did.</p>
  return (
    <dl className={styles.cells}>
      {changes.slice(0, most).map(({ column, before, after }) => (
        <div key={column}>
          <dt>{column === '' ? 'no name' : column.slice(0, 120)}</dt>
          {before !== undefined && (
            <dd className={styles.before}>
              <span className="visually-hidden">before: </span>
              <Fold text={before} lines={6} />
            </dd>
          )}
          {after !== undefined && (
            <dd className={styles.after}>
              <span className="visually-hidden">after: </span>
              <Fold text={after} lines={6} />
            </dd>
          )}
        </div>
      ))}
      {changes.length > most && (
        <button type="button" className="text-button" onClick={() => setMost(most + 100)}>
          {(changes.length - most).toLocaleString()} more cells
        </button>
      )}
    </dl>
  )
}

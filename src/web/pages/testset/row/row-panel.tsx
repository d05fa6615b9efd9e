import { Link } from '@tanstack/react-router'
import { X } from 'lucide-react'
import { usePages } from '../../../api/use-route.ts'
import { Button } from '../../../parts/button/button.tsx'
import { JsonView } from '../../../parts/json/json-view.tsx'
import { authorName } from '../../../parts/revision-chip/author-name.ts'
import { Failure } from '../../../parts/states/failure.tsx'
import { Skeleton } from '../../../parts/states/skeleton.tsx'
import { Ago } from '../../../parts/time/ago.tsx'
import { places } from '../../../shell/places.ts'
import { CellChanges, cellChanges } from './cell-changes.tsx'
import type { Row } from '../rows.ts'
import styles from '../testset.module.css'
import type { TestsetRevision } from '../records.ts'

export interface TestsetRowProps {
  readonly slug: string
  readonly revision: TestsetRevision
  readonly dedupId: string
  /** The row as the grid has it; undefined where it is not seen. */
  readonly row: Row | undefined
  readonly close: () => void
}

/** How one row came to be what it is, at the right of the grid, newest first. */
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
    <aside className={styles.panel} aria-label="History of the row">
      <header>
        <div>
          <h2>History of the row</h2>
          <code className={styles.muted}>{dedupId}</code>
        </div>
        <button type="button" onClick={close} aria-label="Close the history" title="Close">
          <X size={16} aria-hidden />
        </button>
      </header>
      <div className={styles.changes} tabIndex={0} role="region" aria-label="Changes of the row">
        {row && <Extras row={row} />}
        {error && <Failure error={error} retry={refetch} />}
        {!data && !error && <Skeleton label="Loading the history" />}
        {data && changes.length === 0 && (
          <p className={styles.muted}>No version of {revision.testset_variant_slug} has had this row.</p>
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
                  <span className={styles.muted} title={change.author}>
                    {authorName(change.author)}
                  </span>
                  <span className={styles.muted}>
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
        {hasNextPage && (
          <Button busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            Show older changes
          </Button>
        )}
      </div>
    </aside>
  )
}

/** What belongs to the row in the version that is shown, and not to its content. */
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

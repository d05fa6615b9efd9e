import { useState } from 'react'
import { useRoute } from '../../api/use-route.ts'
import { Button } from '../button/button.tsx'
import type { ComparedFamily } from '../compare/ends.ts'
import { Failure } from '../states/states.tsx'
import type { Conflict } from './conflict-texts.ts'
import styles from './conflicts.module.css'
import { type Merge, MergeSheet } from './merge-sheet.tsx'

export interface MergeBoxProps {
  readonly family: ComparedFamily
  readonly slug: string
  /** Both ends of a comparison: the target is a variant. */
  readonly names: { readonly source: string; readonly target: string }
  readonly sides: { readonly source: object; readonly target: object }
  /** The revisions shown; a target that moved since is not written to unseen. */
  readonly revisions: { readonly source: Shown; readonly target: Shown }
  /** Whether the source has versions that the target lacks. */
  readonly isAhead: boolean
  readonly nameOf?: (conflict: Conflict) => string
}

interface Shown {
  readonly id: string
  readonly version: string | number
}

/** What a merge of one end into the other would give, and the button that merges or has the conflicts decided. */
export function MergeBox({ family, slug, names, sides, revisions, isAhead, nameOf }: MergeBoxProps) {
  const [isOpen, setOpen] = useState(false)
  const { data, error } = useRoute(
    `POST /${family}s/variants/merge` as 'POST /workflows/variants/merge',
    { body: { ...sides, dry_run: true } },
    { enabled: isAhead },
  )
  // A merge that is done leaves nothing ahead: its sheet says so until it is closed.
  if (!isAhead && !isOpen) return null
  if (error && !isOpen) return <Failure error={error} />
  if (!data) return null
  const { merge } = data
  return (
    <section className={`between card ${styles.merge}`} aria-label="What a merge would give">
      <p>{verdictOf(merge, names, revisions)}</p>
      {merge.kind !== 'up_to_date' && (
        <Button
          kind="primary"
          {...(merge.conflicts.length === 0 ? { needs: 'write' } : {})}
          onClick={() => setOpen(true)}
        >
          {merge.conflicts.length === 0 ? `Merge into ${names.target}` : `Resolve ${conflictsIn(merge)}`}
        </Button>
      )}
      {isOpen && (
        <MergeSheet
          title={`Merge ${names.source} into ${names.target}`}
          family={family}
          act="variants/merge"
          body={{ ...sides, expected_target: revisions.target.id }}
          slug={slug}
          names={names}
          {...(nameOf ? { nameOf } : {})}
          kept={`merge ${family} ${slug} ${names.source} ${names.target}`}
          action={`Merge into ${names.target}`}
          {...(merge.kind === 'fast_forward'
            ? { hint: `Without a message, ${names.target} becomes the same version as ${names.source}.` }
            : {})}
          close={() => setOpen(false)}
        />
      )}
    </section>
  )
}

function verdictOf(
  merge: Merge,
  { source, target }: MergeBoxProps['names'],
  revisions: MergeBoxProps['revisions'],
): string {
  if (merge.kind === 'up_to_date') return `${target} already has everything from ${source}.`
  if (merge.conflicts.length > 0) return `Merging ${source} into ${target}: ${conflictsIn(merge)}.`
  const version =
    merge.kind === 'fast_forward' ? Number(revisions.source.version) : Number(revisions.target.version) + 1
  return `No conflicts: ${target} will become v${version}.`
}

function conflictsIn({ conflicts, truncated, ...rest }: Merge): string {
  const { total } = rest as { readonly total?: number }
  if (conflicts.length === 1) return '1 conflict'
  return `${(total ?? conflicts.length).toLocaleString()}${truncated && total === undefined ? ' or more' : ''} conflicts`
}

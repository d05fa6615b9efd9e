import { Button } from '../../parts/button/button.tsx'
import { Copyable } from '../../parts/copy/copyable.tsx'
import { TextDiff } from '../../parts/diff/text-diff.tsx'
import { Modal } from '../../parts/dialog/modal.tsx'
import type { Committed, MergeConflict } from './draft/commit-draft.ts'
import styles from './edit.module.css'

export interface MergeConflictsProps {
  readonly variant: string
  readonly left: { readonly revision: Committed; readonly conflicts: readonly MergeConflict[] }
  readonly close: () => void
}

/** Where both sides changed the same places: the draft is safe on a variant of its own, and this says what stands against a merge. */
export function MergeConflicts({ variant, left: { revision, conflicts }, close }: MergeConflictsProps) {
  const mine = revision.variant_slug
  const body = JSON.stringify({
    source: { variant: { slug: mine } },
    target: { variant: { slug: variant } },
    resolutions: [{ all: 'source' }],
  })
  return (
    <Modal
      open
      sheet
      close={close}
      title={`Both changed the same ${conflicts.length === 1 ? 'place' : 'places'}`}
      actions={
        <Button kind="primary" onClick={close}>
          Go to {mine}
        </Button>
      }
    >
      <p>
        Yours is committed as v{revision.version} of the variant <b>{mine}</b>; {variant} is as it was. A
        merge takes a decision for each place below:
      </p>
      {conflicts.map((conflict, at) => (
        <section key={at} className={styles.change}>
          <h3>{typeof conflict.place === 'string' ? conflict.place : JSON.stringify(conflict.place)}</h3>
          <TextDiff
            label={`Theirs and yours at ${at + 1}`}
            base={shown(conflict.target)}
            head={shown(conflict.source)}
          />
        </section>
      ))}
      <Copyable
        label="The merge that takes yours everywhere, in a terminal"
        text={`curl -H "Authorization: ApiKey $BRANCHPOINT_KEY" -H 'Content-Type: application/json' "$BRANCHPOINT_URL/workflows/variants/merge" -d '${body.replaceAll("'", "'\\''")}'`}
      />
    </Modal>
  )
}

function shown(value: unknown): string {
  if (value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2)
}

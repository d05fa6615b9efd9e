import { Button } from '../../parts/button/button.tsx'
import { Ago } from '../../parts/time/ago.tsx'
import type { Base } from './draft/editing.ts'
import type { DraftLock } from './draft/use-draft-lock.ts'
import type { EditingState } from './draft/use-editing.ts'
import styles from './edit.module.css'

export interface NoticesProps {
  readonly variant: string
  readonly head: Base
  readonly base: Base
  readonly isDirty: boolean
  /** Why the draft cannot be compared with anything now. */
  readonly refusal: string | undefined
  readonly lock: DraftLock
  readonly again: () => void
  readonly seeBoth: () => void
}

/** Says that another tab edits the draft, or that somebody else has committed. Nothing moves by itself. */
export function Notices({ variant, head, base, isDirty, refusal, lock, again, seeBoth }: NoticesProps) {
  const isElsewhere = lock.isHeld === false
  const isBehind = head.revisionId !== base.revisionId
  return (
    <div role="status">
      {isElsewhere && (
        <p className={styles.notice}>
          This draft is open in another tab, where it can be edited.
          <Button onClick={lock.takeOver}>Edit it here</Button>
        </p>
      )}
      {isBehind && !isElsewhere && (
        <p className={styles.notice}>
          {variant} is at v{head.version} by now; {isDirty ? 'your draft begins at' : 'this is'} v
          {base.version}.
          {isDirty ? (
            <Button refusal={refusal} onClick={seeBoth}>
              See both
            </Button>
          ) : (
            <Button onClick={again}>Begin at v{head.version}</Button>
          )}
        </p>
      )}
    </div>
  )
}

/** Where the draft is kept. */
export function DraftLine({ isDirty, kept }: Pick<EditingState, 'isDirty' | 'kept'>) {
  if (kept && 'problem' in kept) return <span>This browser keeps no draft: {kept.problem}</span>
  if (!isDirty) return <span>no changes</span>
  return kept ? (
    <span>
      draft kept in this browser, <Ago date={kept.at} />
    </span>
  ) : (
    <span>draft in this browser</span>
  )
}

import { useState } from 'react'
import { Problem } from '../../api/problem.ts'
import { Button } from '../../parts/button/button.tsx'
import { RevisionDiff } from '../../parts/diff/revision-diff.tsx'
import { Modal } from '../../parts/dialog/modal.tsx'
import { LongTextField, TextField } from '../../parts/fields/text-field.tsx'
import { Failure } from '../../parts/states/failure.tsx'
import { Changes } from './changes.tsx'
import { type Committed, type Going, type MergeConflict, useCommitDraft } from './draft/commit-draft.ts'
import { MergeConflicts } from './merge-conflicts.tsx'
import styles from './edit.module.css'

export interface MovedSheetProps {
  readonly variant: string
  /** The latest revision of the variant now. */
  readonly head: { readonly id: string; readonly version: number }
  readonly draft: Omit<Going, 'message'>
  readonly text: string
  readonly message: string
  readonly close: () => void
  readonly onCommitted: (revision: Committed) => void
  readonly onDiscard: () => void
}

/** What to do where somebody else has committed since the draft began: both sides are shown, and nothing is overwritten. */
export function MovedSheet(props: MovedSheetProps) {
  const { variant, head, draft, text, close, onCommitted, onDiscard } = props
  const [message, setMessage] = useState(props.message)
  const [slug, setSlug] = useState(
    () => `${variant}-${crypto.getRandomValues(new Uint16Array(1))[0]?.toString(36)}`,
  )
  const [error, setError] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  const [left, setLeft] = useState<{ revision: Committed; conflicts: readonly MergeConflict[] }>()
  const { commitToNew, goOnTop } = useCommitDraft()
  const going = { ...draft, message }

  async function go(work: () => Promise<void>): Promise<void> {
    setBusy(true)
    setError(undefined)
    try {
      await work()
    } catch (failure) {
      setError(failure)
    } finally {
      setBusy(false)
    }
  }

  if (left) return <MergeConflicts variant={variant} left={left} close={() => onCommitted(left.revision)} />
  const isTaken = error instanceof Problem && error.code === 'slug_taken'
  return (
    <Modal
      open
      sheet
      close={close}
      title={`${variant} has moved on to v${head.version}`}
      actions={
        <>
          <Button kind="danger" onClick={onDiscard}>
            Discard mine
          </Button>
          <Button
            needs="write"
            busy={isBusy}
            onClick={() => void go(async () => onCommitted(await commitToNew(slug.trim(), going)))}
          >
            Commit to {slug.trim() || 'a new variant'}
          </Button>
          <Button
            kind="primary"
            needs="write"
            busy={isBusy}
            onClick={() =>
              void go(async () => {
                const outcome = await goOnTop(slug.trim(), going, head.id)
                if (outcome.conflicts.length === 0) onCommitted(outcome.revision)
                else setLeft(outcome)
              })
            }
          >
            Go on top of v{head.version}
          </Button>
        </>
      }
    >
      <p>
        Your draft begins at v{draft.base.version}. Where the two changed different places, the server can
        merge yours on top of theirs; otherwise yours is kept as a variant. Nothing is overwritten.
      </p>
      {error !== undefined && !isTaken && <Failure error={error} />}
      <LongTextField label="Message" value={message} onChange={setMessage} rows={2} />
      <TextField
        label="Variant for yours"
        value={slug}
        onChange={setSlug}
        problem={isTaken ? error.message : undefined}
        hint="It is made at your base. When the merge succeeds, it is archived."
      />
      <div className={styles.sides}>
        <section>
          <h3>
            What they changed: v{draft.base.version} to v{head.version}
          </h3>
          <RevisionDiff base={{ id: draft.base.revisionId }} head={{ id: head.id }} />
        </section>
        <section>
          <h3>What you changed of v{draft.base.version}</h3>
          <Changes base={draft.base.text} text={text} />
        </section>
      </div>
    </Modal>
  )
}

import { type FormEvent, useState } from 'react'
import { Problem } from '../../api/problem.ts'
import { Button } from '../../parts/button/button.tsx'
import { Modal } from '../../parts/dialog/modal.tsx'
import { LongTextField, TextField } from '../../parts/fields/text-field.tsx'
import { Failure } from '../../parts/states/failure.tsx'
import { useCommands } from '../../shell/commands.tsx'
import { Changes } from './changes.tsx'
import { type Committed, type Going, useCommitDraft } from './draft/commit-draft.ts'
import styles from './edit.module.css'

export interface CommitDialogProps {
  readonly variant: string
  /** What goes to the server, but for the message. */
  readonly draft: Omit<Going, 'message'>
  /** The `data` to be, as JSON text. */
  readonly text: string
  readonly close: () => void
  readonly onCommitted: (revision: Committed) => void
  /** Told where the variant has moved on, with the message that was typed. */
  readonly onMoved: (message: string) => void
}

/** Asks for a message and the variant, shows what changed, and commits. */
export function CommitDialog({ variant, draft, text, close, onCommitted, onMoved }: CommitDialogProps) {
  const [message, setMessage] = useState('')
  const [slug, setSlug] = useState<string>()
  const [error, setError] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  const { commitTo, commitToNew } = useCommitDraft()
  const target = slug ?? variant
  const refusal = target.trim() === '' ? 'The new variant needs a name.' : undefined

  async function commit(): Promise<void> {
    if (isBusy || refusal !== undefined) return
    setBusy(true)
    setError(undefined)
    try {
      const going = { ...draft, message }
      onCommitted(
        await (slug === undefined ? commitTo(draft.base.variantId, going) : commitToNew(slug.trim(), going)),
      )
    } catch (failure) {
      if (failure instanceof Problem && failure.code === 'revision_conflict') onMoved(message)
      else setError(failure)
    } finally {
      setBusy(false)
    }
  }

  useCommands([{ id: 'commit', title: `Commit to ${target}`, keys: 'mod+enter', run: () => void commit() }])
  const isTaken = error instanceof Problem && error.code === 'slug_taken'
  return (
    <Modal
      open
      close={close}
      title="Commit"
      actions={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button kind="primary" needs="write" busy={isBusy} refusal={refusal} onClick={() => void commit()}>
            {isBusy ? 'Committing …' : `Commit to ${target.trim()}`}
          </Button>
        </>
      }
    >
      <form
        onSubmit={(event: FormEvent) => {
          event.preventDefault()
          void commit()
        }}
      >
        {error !== undefined && !isTaken && <Failure error={error} />}
        <LongTextField
          label="Message"
          hint="What changes and why. Without one the server says what changed."
          value={message}
          onChange={setMessage}
          rows={3}
          autoFocus
        />
        <fieldset className={styles.target}>
          <legend>Goes to</legend>
          <label>
            <input
              type="radio"
              name="target"
              checked={slug === undefined}
              onChange={() => setSlug(undefined)}
            />
            {variant}, on top of v{draft.base.version}
          </label>
          <label>
            <input type="radio" name="target" checked={slug !== undefined} onChange={() => setSlug('')} />a
            new variant that begins at v{draft.base.version}
          </label>
        </fieldset>
        {slug !== undefined && (
          <TextField
            label="Name of the new variant"
            value={slug}
            onChange={setSlug}
            problem={isTaken ? error.message : undefined}
            hint="Letters, digits, _ . and -; it never changes."
          />
        )}
      </form>
      <h3>What changes</h3>
      <Changes base={draft.base.text} text={text} />
    </Modal>
  )
}

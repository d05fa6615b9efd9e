import { useState } from 'react'
import type { Answer } from '../../api/call.ts'
import { useRoute, useWrite } from '../../api/use-route.ts'
import { Button } from '../../parts/button/button.tsx'
import { Modal } from '../../parts/dialog/modal.tsx'
import { TextField } from '../../parts/fields/text-field.tsx'
import { Failure } from '../../parts/states/failure.tsx'
import { Conflicts } from './conflicts.tsx'
import styles from './page.module.css'

export interface MergeBoxProps {
  readonly names: Names
  readonly sides: { readonly source: object; readonly target: object }
  /** The head that is shown: a merge into another one is refused. */
  readonly targetRevision: string
}

/** What a merge of the head into the base would come to, and the button that does it where nothing is in conflict. */
export function MergeBox({ names, sides, targetRevision }: MergeBoxProps) {
  const [open, setOpen] = useState<Opened>()
  const { data, error } = useRoute('POST /workflows/variants/merge', { body: { ...sides, dry_run: true } })
  if (error) return <Failure error={error} />
  if (!data) return null
  const { merge } = data
  return (
    <section className={styles.merge} aria-label="What a merge would give">
      <div className={styles.verdict}>
        <p>{verdictOf(merge, names)}</p>
        {(merge.kind === 'fast_forward' || merge.kind === 'merge') && merge.conflicts.length === 0 && (
          <Button kind="primary" needs="write" onClick={() => setOpen('plain')}>
            Merge into {names.target}
          </Button>
        )}
      </div>
      {merge.conflicts.length > 0 && (
        <Conflicts merge={merge} sides={sides} targetRevision={targetRevision} takeAll={setOpen} />
      )}
      <MergeDialog
        key={open ?? 'closed'}
        open={open}
        close={() => setOpen(undefined)}
        merge={merge}
        body={{ ...sides, expected_target: targetRevision }}
        names={names}
      />
    </section>
  )
}

/** What the dialog was opened for: to merge, or to merge with one side of all conflicts. */
type Opened = 'plain' | 'target' | 'source' | undefined

/** The sides in words. */
interface Names {
  readonly source: string
  readonly target: string
}

type Merge = Answer<'POST /workflows/variants/merge'>['merge']

function verdictOf({ kind, conflicts, truncated }: Merge, { source, target }: Names): string {
  if (kind === 'up_to_date') return `${target} has everything of ${source} already.`
  if (conflicts.length > 0) {
    return `A merge of ${source} into ${target} meets ${conflictsIn({ conflicts, truncated })}.`
  }
  if (kind === 'fast_forward') {
    return `A merge of ${source} into ${target} is a fast-forward: ${target} moves, and no commit is made.`
  }
  return `A merge of ${source} into ${target} has no conflicts; it makes a merge commit.`
}

function conflictsIn({ conflicts, truncated }: Pick<Merge, 'conflicts' | 'truncated'>): string {
  const count = `${conflicts.length.toLocaleString()}${truncated ? ' or more' : ''}`
  return `${count} ${conflicts.length === 1 ? 'conflict' : 'conflicts'}`
}

function MergeDialog({
  open,
  close,
  merge,
  body,
  names,
}: {
  readonly open: Opened
  readonly close: () => void
  readonly merge: Merge
  readonly body: { readonly source: object; readonly target: object; readonly expected_target: string }
  readonly names: Names
}) {
  const [message, setMessage] = useState('')
  const { mutate, error, isPending } = useWrite('POST /workflows/variants/merge')
  const merged = message.trim()
  const all = open === 'plain' ? undefined : open
  const run = (): void =>
    mutate(
      {
        body: {
          ...body,
          ...(merged === '' ? {} : { message: merged }),
          ...(all === undefined ? {} : { resolutions: [{ all }] }),
        },
      },
      { onSuccess: close },
    )
  return (
    <Modal
      open={open !== undefined}
      close={close}
      title={`Merge ${names.source} into ${names.target}`}
      actions={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button kind="primary" needs="write" busy={isPending} onClick={run}>
            Merge into {names.target}
          </Button>
        </>
      }
    >
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (!isPending) run()
        }}
      >
        {all && (
          <p>
            Where both changed the same, {names[all]} wins, in {conflictsIn(merge)}.
          </p>
        )}
        <TextField
          label="Message"
          value={message}
          onChange={setMessage}
          placeholder={`Merge ${names.source} into ${names.target}`}
          hint={
            merge.kind === 'fast_forward'
              ? 'Without a message the variant moves to the revision; with one a merge commit is made.'
              : 'Without a message the server writes one.'
          }
          autoFocus
        />
      </form>
      {error && <Failure error={error} />}
    </Modal>
  )
}

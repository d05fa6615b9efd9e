import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState, type FormEvent } from 'react'
import { Button } from '../button/button.tsx'
import { FormDialog, Modal } from '../dialog/dialog.tsx'
import type { JsonChange } from '../json-text/json-text.ts'
import { nameOfPlace, rolesIn } from '../conflicts/conflict-texts.ts'
import { MergeSheet } from '../conflicts/merge-sheet.tsx'
import { type Committed, type Going, useCommitDraft } from './commit-draft.ts'
import type { Base } from './editing.ts'
import { Problem } from '../../api/call.ts'
import { LongTextField, TextField } from '../fields/fields.tsx'
import { Failure } from '../states/states.tsx'
import { useCommands } from '../../shell/commands.tsx'
import { useRefusal } from '../../shell/session.tsx'
import { Changes } from './changes.tsx'
import styles from './draft.module.css'
import { RevisionDiff } from '../diff/revision-diff.tsx'
import { useWork } from '../../api/use-route.ts'

/** `variant` saves to a new variant. */
export type DraftDialog = 'commit' | 'variant' | 'moved' | 'discard' | undefined

export interface DraftDialogsProps {
  readonly slug: string
  /** The name of the draft. */
  readonly name: string
  readonly dialog: DraftDialog
  readonly open: (dialog: DraftDialog) => void
  readonly variant: string
  readonly head: Base
  readonly base: Base
  readonly change: JsonChange
  readonly text: string
  readonly onCommitted: (revision: Committed) => void
  readonly onDiscard: () => void
}

/** The dialogs of an edit: save, resolve a newer version, discard. */
export function DraftDialogs(props: DraftDialogsProps) {
  const { slug, name, dialog, open, variant, head, base, change, text, onCommitted, onDiscard } = props
  const [message, setMessage] = useState('')
  const cache = useQueryClient()
  const close = (): void => open(undefined)
  if (dialog === 'discard') {
    return (
      <FormDialog
        title="Discard the draft?"
        action="Discard the draft"
        kind="danger"
        submit={async () => onDiscard()}
        close={close}
      >
        <p>Your changes since v{base.version} exist only in this browser and cannot be restored.</p>
      </FormDialog>
    )
  }
  if (!change) return null
  if (dialog === 'commit' || dialog === 'variant') {
    return (
      <SaveDialog
        name={name}
        isNew={dialog === 'variant'}
        variant={variant}
        draft={{ base, change }}
        text={text}
        close={close}
        onCommitted={onCommitted}
        onMoved={(typed) => {
          setMessage(typed)
          open('moved')
          void cache.invalidateQueries({ queryKey: ['POST /workflows/revisions/retrieve'] })
        }}
      />
    )
  }
  // The newer head arrives a moment after the refused commit.
  if (dialog !== 'moved' || head.revisionId === base.revisionId) return null
  return (
    <MovedSheet
      slug={slug}
      name={name}
      variant={variant}
      head={{ id: head.revisionId, version: head.version }}
      draft={{ base, change }}
      text={text}
      message={message}
      close={close}
      onCommitted={onCommitted}
      onDiscard={() => open('discard')}
    />
  )
}

interface SaveDialogProps {
  /** The name of the draft. */
  readonly name: string
  /** Whether it begins with a new variant. */
  readonly isNew: boolean
  readonly variant: string
  /** The commit without its message. */
  readonly draft: Omit<Going, 'message'>
  /** The new `data`, as JSON text. */
  readonly text: string
  readonly close: () => void
  readonly onCommitted: (revision: Committed) => void
  /** Called with the typed message if the variant has a newer version. */
  readonly onMoved: (message: string) => void
}

/** Asks for a message and the variant, shows what changed, and saves a version. */
function SaveDialog({ name, isNew, variant, draft, text, close, onCommitted, onMoved }: SaveDialogProps) {
  const [message, setMessage] = useState('')
  const [slug, setSlug] = useState<string | undefined>(isNew ? '' : undefined)
  const { start, isBusy, error } = useWork()
  const { making } = draft.base
  /** Another ID for something new, after somebody else took the first one. */
  const [otherId, setOtherId] = useState<string>()
  const { commitTo, commitToNew } = useCommitDraft(name)
  const target = slug ?? variant
  const action = slug === undefined ? 'Save version' : 'Save as a new variant'
  const refusal = target.trim() === '' ? 'The new variant needs a name.' : undefined

  async function commit(): Promise<void> {
    if (isBusy || refusal !== undefined) return
    const base =
      making && otherId !== undefined
        ? { ...draft.base, making: { ...making, slug: otherId.trim() } }
        : draft.base
    const going = { ...draft, base, message }
    await start(async () => {
      try {
        onCommitted(
          await (slug === undefined
            ? commitTo(draft.base.variantId, going)
            : commitToNew(slug.trim(), going)),
        )
      } catch (failure) {
        if (failure instanceof Problem && failure.code === 'revision_conflict') return onMoved(message)
        if (making && failure instanceof Problem && failure.code === 'slug_taken')
          setOtherId(otherId ?? making.slug)
        throw failure
      }
    })
  }

  const isTaken = error instanceof Problem && error.code === 'slug_taken'
  return (
    <Modal
      open
      wide
      close={close}
      title="Save version"
      actions={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button kind="primary" needs="write" busy={isBusy} refusal={refusal} onClick={() => void commit()}>
            {isBusy ? 'Saving …' : action}
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
        <SaveKey title={action} refusal={refusal} run={() => void commit()} />
        {error !== undefined && !isTaken && <Failure error={error} />}
        <LongTextField
          label="Message"
          hint="What changed and why. If left empty, the server writes one."
          value={message}
          onChange={setMessage}
          rows={3}
          autoFocus
        />
        {otherId !== undefined && (
          <TextField
            label="ID"
            value={otherId}
            onChange={setOtherId}
            problem={isTaken ? error.message : undefined}
            hint="Used in code and links. It can’t be changed later."
          />
        )}
        <fieldset className="checks" hidden={making !== undefined}>
          <legend>Save to</legend>
          <label>
            <input
              type="radio"
              name="target"
              checked={slug === undefined}
              onChange={() => setSlug(undefined)}
            />
            {variant}, as v{draft.base.version + 1}
          </label>
          <label>
            <input type="radio" name="target" checked={slug !== undefined} onChange={() => setSlug('')} />a
            new variant from v{draft.base.version}
          </label>
        </fieldset>
        {slug !== undefined && (
          <TextField
            label="Name of the new variant"
            value={slug}
            onChange={setSlug}
            problem={isTaken ? error.message : undefined}
            hint="Used in code and links. It can’t be changed later."
          />
        )}
      </form>
      <h3>What changes</h3>
      <Changes base={draft.base.text} text={text} />
    </Modal>
  )
}

interface SaveKeyProps {
  readonly title: string
  readonly refusal: string | undefined
  readonly run: () => void
}

/** Saves by Ctrl+Enter; inside of the dialog, so that the key is the dialog's. */
function SaveKey({ title, refusal, run }: SaveKeyProps) {
  const lacking = useRefusal('write')
  useCommands([{ id: 'save', title, keys: 'mod+enter', refusal: lacking ?? refusal, run }])
  return null
}

interface MovedSheetProps {
  readonly slug: string
  /** The name of the draft. */
  readonly name: string
  readonly variant: string
  /** The variant's latest revision. */
  readonly head: { readonly id: string; readonly version: number }
  readonly draft: Omit<Going, 'message'>
  readonly text: string
  readonly message: string
  readonly close: () => void
  readonly onCommitted: (revision: Committed) => void
  readonly onDiscard: () => void
}

/** Shown when another user committed since the draft began: both sides are shown, nothing is overwritten. */
function MovedSheet(props: MovedSheetProps) {
  const { slug, name, variant, head, draft, text, onCommitted } = props
  const [message, setMessage] = useState(props.message)
  const [ownVariant, setOwnVariant] = useState(
    // With digits alone it would read as a version.
    () => `${variant}-m${crypto.getRandomValues(new Uint16Array(1))[0]?.toString(36)}`,
  )
  const { start: go, isBusy, error } = useWork()
  /** The draft on a variant of its own, whose conflicts are to be decided. */
  const [mine, setMine] = useState<Committed>()
  /** The variant on which the draft was saved for a merge. It is archived when the user edits the draft instead. */
  const [aside, setAside] = useState<string>()
  const { commitToNew, goOnTop, archiveVariant, recallCommit } = useCommitDraft(name)
  const going = { ...draft, message }
  useEffect(() => {
    // The newer version may be this draft, saved while the server or the connection failed.
    void recallCommit(draft).then(
      (own) => own && onCommitted(own),
      () => undefined,
    )
  }, [])

  function leave(to: () => void): void {
    if (aside !== undefined) void archiveVariant(aside).catch(() => undefined)
    to()
  }

  if (mine)
    return (
      <MergeSheet
        title={`Merge your changes into ${variant}`}
        family="workflow"
        act="variants/merge"
        slug={slug}
        body={{
          source: { variant: { id: mine.variant_id } },
          target: { variant: { id: draft.base.variantId } },
          expected_target: head.id,
        }}
        names={{ source: 'your changes', target: variant }}
        nameOf={(conflict) => nameOfPlace(conflict, rolesIn(mine.data))}
        message={message}
        action="Save merged version"
        kept={`merge workflow ${slug} ${mine.variant_slug} ${variant}`}
        close={() => setMine(undefined)}
        onMade={(made) =>
          void archiveVariant(mine.variant_id)
            .catch(() => undefined)
            .then(() => onCommitted(made ? (made as Committed) : mine))
        }
      />
    )
  const isTaken = error instanceof Problem && error.code === 'slug_taken'
  return (
    <Modal
      open
      sheet
      close={() => leave(props.close)}
      title={`${variant} is now at v${head.version}`}
      actions={
        <>
          <Button kind="danger" onClick={() => leave(props.onDiscard)}>
            Discard my changes
          </Button>
          <Button
            needs="write"
            busy={isBusy}
            onClick={() => void go(async () => onCommitted(await commitToNew(ownVariant.trim(), going)))}
          >
            Keep as {ownVariant.trim() || 'a new variant'}
          </Button>
          <Button
            kind="primary"
            needs="write"
            busy={isBusy}
            onClick={() =>
              void go(async () => {
                const { revision, hasConflicts } = await goOnTop(ownVariant.trim(), going)
                if (!hasConflicts) return onCommitted(revision)
                setMine(revision)
                setAside(revision.variant_id)
              })
            }
          >
            Merge my changes into v{head.version}
          </Button>
        </>
      }
    >
      <p>
        Somebody saved v{head.version} after you began with v{draft.base.version}. Your changes are merged
        into it; where both changed the same place, you choose. Nothing is overwritten.
      </p>
      {error !== undefined && !isTaken && <Failure error={error} />}
      <LongTextField label="Message" value={message} onChange={setMessage} rows={2} />
      <TextField
        label="If it can’t be merged, keep my version as:"
        value={ownVariant}
        onChange={setOwnVariant}
        problem={isTaken ? error.message : undefined}
        hint="A new variant. It is archived once your changes are merged."
      />
      <div className={styles.sides}>
        <section>
          <h3>
            Their changes: v{draft.base.version} to v{head.version}
          </h3>
          <RevisionDiff base={{ id: draft.base.revisionId }} head={{ id: head.id }} />
        </section>
        <section>
          <h3>Your changes since v{draft.base.version}</h3>
          <Changes base={draft.base.text} text={text} />
        </section>
      </div>
    </Modal>
  )
}

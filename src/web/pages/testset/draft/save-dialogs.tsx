import { useEffect, useRef, useState } from 'react'
import { type Answer, call, Problem } from '../../../api/call.ts'
import { useWrite } from '../../../api/use-route.ts'
import { Button } from '../../../parts/button/button.tsx'
import { FormDialog, Modal } from '../../../parts/dialog/dialog.tsx'
import { LongTextField } from '../../../parts/fields/fields.tsx'
import { type ChangedRow, RowChanges } from '../../../parts/row-diff/row-diff.tsx'
import { Failure, Skeleton } from '../../../parts/states/states.tsx'
import { useCommands } from '../../../shell/commands.tsx'
import type { Testset } from '../rows.ts'
import {
  type AsideRows,
  changesOf,
  hasMoved,
  type ReadRows,
  type RowChange,
  useSaveRows,
} from './save-rows.ts'
import { counted } from './cell-editor.tsx'
import type { RowsBase, RowsDraftState } from './use-rows-draft.ts'
import styles from '../testset.module.css'

/** The dialog that is open. */
export type SaveDialog =
  'review' | 'save' | 'discard' | { readonly merging: AsideRows; readonly message: string }

export interface SaveDialogsProps {
  readonly testset: Testset
  readonly base: RowsBase
  readonly state: RowsDraftState
  readonly read: ReadRows
  readonly dialog: SaveDialog
  /** Why the draft cannot be saved. */
  readonly refusal: string | undefined
  readonly open: (dialog: SaveDialog | undefined) => void
}

/** Reviews, saves, merges or discards the draft. */
export function SaveDialogs(props: SaveDialogsProps) {
  const { dialog, open, state, base } = props
  const close = (): void => open(undefined)
  if (dialog === 'review') return <Review {...props} />
  if (dialog === 'save') return <Save {...props} />
  if (dialog !== 'discard') return <Merging {...props} {...dialog} />
  return (
    <FormDialog
      title="Discard the changes?"
      action="Discard"
      kind="danger"
      submit={() => state.discard()}
      close={close}
    >
      <p>
        The changes were never saved. The rows are then as they are in{' '}
        {base.id === undefined ? 'the testset' : `v${base.version}`}.
      </p>
    </FormDialog>
  )
}

const PAGE = 50

/** The rows that would be saved, old above new. */
function Review({ base, state, read, refusal, open }: SaveDialogsProps) {
  const [changes, setChanges] = useState<readonly RowChange[]>()
  const [error, setError] = useState<unknown>()
  const [most, setMost] = useState(PAGE)
  const { draft, counts } = state
  useEffect(() => {
    changesOf(draft, base, read).then(setChanges, setError)
  }, [draft])
  const keys = new Set(draft.columns.map(({ key }) => key))
  const known = new Set(base.columns)
  return (
    <Modal
      open
      sheet
      close={() => open(undefined)}
      title="Changes to save"
      actions={
        <>
          <Button onClick={() => open(undefined)}>Back to the rows</Button>
          <Button kind="primary" needs="write" refusal={refusal} onClick={() => open('save')}>
            Save version
          </Button>
        </>
      }
    >
      {error !== undefined ? (
        <Failure error={error} />
      ) : !changes ? (
        <Skeleton label="Loading the rows that change" lines={10} />
      ) : (
        <>
          {counts.moved > 0 && <p>{counts.moved.toLocaleString()} rows are moved.</p>}
          <Renamed columns={draft.columns.filter(({ key, name }) => known.has(key) && key !== name)} />
          <RowChanges
            rows={changes.slice(0, most).map(changedRow)}
            added={draft.columns.filter(({ key }) => !known.has(key)).map(({ name }) => name)}
            removed={base.columns.filter((name) => !keys.has(name))}
            hasMore={changes.length > most}
            more={
              changes.length > most && (
                <Button onClick={() => setMost(most + PAGE * 4)}>
                  Show more rows: {(changes.length - most).toLocaleString()} are left
                </Button>
              )
            }
          />
        </>
      )}
    </Modal>
  )
}

function Renamed({
  columns,
}: {
  readonly columns: readonly { readonly key: string; readonly name: string }[]
}) {
  if (columns.length === 0) return null
  return (
    <ul>
      {columns.map(({ key, name }) => (
        <li key={key}>
          Column <bdi>{key}</bdi> is called <bdi>{name}</bdi>
        </li>
      ))}
    </ul>
  )
}

function changedRow({ key, before, after }: RowChange): ChangedRow {
  return { kind: !before ? 'added' : !after ? 'removed' : 'changed', dedupId: key, base: before, head: after }
}

/** Saves the draft as one version; one whose base is no longer the newest is saved aside, to be merged into that. */
function Save({ base, state, read, refusal, open }: SaveDialogsProps) {
  const [message, setMessage] = useState(state.attempt?.message ?? '')
  const { save, saveAside } = useSaveRows(base, state, read)
  const next = useRef<SaveDialog>(undefined)

  async function submit(): Promise<void> {
    const said = message.trim()
    try {
      await save(said)
      await state.saved()
    } catch (error) {
      if (!hasMoved(error)) throw error
      next.current = { merging: await saveAside(said), message: said }
    }
  }

  return (
    <FormDialog
      title={`Save version of ${base.variantSlug}`}
      action="Save version"
      needs="write"
      refusal={refusal}
      submit={submit}
      close={() => open(next.current)}
    >
      <SaveKey />
      <LongTextField
        label="What changed (optional)"
        value={message}
        onChange={setMessage}
        placeholder="Without it, the version says which rows changed"
      />
    </FormDialog>
  )
}

function SaveKey() {
  const field = useRef<HTMLSpanElement>(null)
  useCommands([
    {
      id: 'save rows now',
      title: 'Save version',
      keys: 'mod+enter',
      group: 'Rows',
      run: () => field.current?.closest('form')?.requestSubmit(),
    },
  ])
  return <span ref={field} hidden />
}

type MergeAnswer = Answer<'POST /testsets/variants/merge'>
type Conflict = MergeAnswer['merge']['conflicts'][number]
type Side = 'target' | 'source'

/**
 * Merges a draft that was saved aside into the newest version. Cells that only one of the two changed are merged at once; those that both changed
 * are decided here.
 */
function Merging({
  base,
  state,
  read,
  open,
  refusal,
  merging,
  message,
}: SaveDialogsProps & { readonly merging: AsideRows; readonly message: string }) {
  const { putAway } = useSaveRows(base, state, read)
  const merge = useWrite('POST /testsets/variants/merge')
  const [tried, setTried] = useState<MergeAnswer>()
  const [taken, setTaken] = useState<ReadonlyMap<string, Side>>(new Map())
  const [error, setError] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  const ends = {
    source: { variant: { id: merging.variantId } },
    target: { variant: { id: base.variantId } },
  }
  const conflicts = tried?.merge.conflicts ?? []
  const left = conflicts.filter((it) => !taken.has(placeOf(it))).length

  async function attempt(resolutions: readonly object[]): Promise<void> {
    setBusy(true)
    setError(undefined)
    try {
      await merge.mutateAsync({
        body: { ...ends, resolutions, ...(message === '' ? {} : { message }) } as never,
      })
      await putAway(merging)
      await state.saved()
      open(undefined)
    } catch (failure) {
      if (failure instanceof Problem && failure.code === 'merge_conflict') setTried(await dryRun())
      else setError(failure)
    } finally {
      setBusy(false)
    }
  }
  const dryRun = (): Promise<MergeAnswer> =>
    call('POST /testsets/variants/merge', { body: { ...ends, dry_run: true } })
  useEffect(() => void attempt([]), [])

  const all = (side: Side): void => setTaken(new Map(conflicts.map((it) => [placeOf(it), side])))
  const [rest = 'source'] = [...new Set(taken.values())]
  return (
    <Modal
      open
      sheet
      close={() => open(undefined)}
      title={tried ? 'Cells that both changed' : `Merging into ${base.variantSlug}`}
      actions={
        <>
          <Button onClick={() => open(undefined)}>Back to the rows</Button>
          <Button
            kind="primary"
            needs="write"
            busy={isBusy}
            refusal={refusal ?? (left > 0 ? `${left.toLocaleString()} left to decide.` : undefined)}
            onClick={() =>
              void attempt([
                ...conflicts.map((it) => ({ place: it.place, take: taken.get(placeOf(it)) })),
                ...(tried?.merge.truncated ? [{ all: rest }] : []),
              ])
            }
          >
            Save merged version
          </Button>
        </>
      }
    >
      {error !== undefined && <Failure error={error} retry={() => void attempt([])} />}
      {!tried ? (
        error === undefined && <Skeleton label="Merging your changes" lines={6} />
      ) : (
        <>
          <p role="status">
            {counted(conflicts.length, 'conflict')}
            {tried.merge.truncated && ' and more'},{' '}
            {left === 0 ? 'all decided' : `${left.toLocaleString()} left`}. Everything else is merged.
          </p>
          <p>
            <Button onClick={() => all('target')}>Use current for all</Button>{' '}
            <Button onClick={() => all('source')}>Use mine for all</Button>
          </p>
          <ol className={styles.conflicts}>
            {conflicts.slice(0, 200).map((it) => (
              <ConflictView
                key={placeOf(it)}
                conflict={it}
                taken={taken.get(placeOf(it))}
                take={(side) => setTaken(new Map(taken).set(placeOf(it), side))}
              />
            ))}
          </ol>
        </>
      )}
    </Modal>
  )
}

function placeOf({ place }: Conflict): string {
  return JSON.stringify(place)
}

interface ConflictViewProps {
  readonly conflict: Conflict
  readonly taken: Side | undefined
  readonly take: (side: Side) => void
}

/** One cell that both changed. */
function ConflictView({ conflict, taken, take }: ConflictViewProps) {
  const { row, column } = conflict.place as { readonly row?: string; readonly column?: string }
  const name =
    row === undefined
      ? 'The order of the rows'
      : column === undefined
        ? `Row ${row}`
        : `${column} of row ${row}`
  return (
    <li>
      <fieldset className={styles.conflict}>
        <legend dir="auto">{name}</legend>
        {(['target', 'source'] as const).map((side) => (
          <label key={side}>
            <input type="radio" checked={taken === side} onChange={() => take(side)} />
            {side === 'target' ? 'Current' : 'Incoming (mine)'}: <Value value={conflict[side]} />
          </label>
        ))}
        <p className="muted">
          Original: <Value value={conflict.base} />
        </p>
      </fieldset>
    </li>
  )
}

function Value({ value }: { readonly value: unknown }) {
  if (value === undefined) return <i>none</i>
  return <code dir="auto">{typeof value === 'string' ? value : JSON.stringify(value)}</code>
}

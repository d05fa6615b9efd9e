import { useEffect, useRef, useState } from 'react'
import { Problem } from '../../../api/call.ts'
import { useRoute, useWrite } from '../../../api/use-route.ts'
import { Button } from '../../../parts/button/button.tsx'
import { MergeSheet } from '../../../parts/conflicts/merge-sheet.tsx'
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
import type { RowsBase, RowsDraftState } from './use-rows-draft.ts'

/** The dialog that is open. */
export type SaveDialog = 'review' | 'save' | 'discard' | Aside

interface Aside {
  /** The draft as it was saved beside the newest version. */
  readonly merging: AsideRows
  readonly message: string
}

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
  const { dialog, open, state, base, read } = props
  const { putAway } = useSaveRows(base, state, read)
  const close = (): void => open(undefined)
  if (dialog === 'review') return <Review {...props} />
  if (dialog === 'save') return <Save {...props} />
  if (dialog !== 'discard') return <Merging {...props} {...dialog} />
  return (
    <FormDialog
      title="Discard the changes?"
      action="Discard"
      kind="danger"
      submit={async () => {
        await putAway(state.attempt?.aside)
        await state.discard()
      }}
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

/** Saves the draft as one version; one whose base is no longer the newest is saved aside and merged into that. */
function Save({ base, state, read, refusal, open }: SaveDialogsProps) {
  const [message, setMessage] = useState(state.attempt?.message ?? '')
  const { save, saveAside, putAway } = useSaveRows(base, state, read)
  const merge = useWrite('POST /testsets/variants/merge')
  const next = useRef<SaveDialog>(undefined)

  async function submit(): Promise<void> {
    const said = message.trim()
    try {
      await save(said)
      await state.saved()
    } catch (error) {
      if (!hasMoved(error)) throw error
      const aside = await saveAside(said)
      try {
        const body = { ...endsOf(base, aside), ...(said === '' ? {} : { message: said }) }
        await merge.mutateAsync({ body })
        await putAway(aside.variantId)
        await state.saved()
      } catch (conflict) {
        if (!(conflict instanceof Problem) || conflict.code !== 'merge_conflict') throw conflict
        next.current = { merging: aside, message: said }
      }
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
        autoFocus
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

/** Has the cells decided that both the draft, saved aside, and a newer version changed. */
function Merging({ testset, base, state, read, open, merging, message }: SaveDialogsProps & Aside) {
  const { putAway } = useSaveRows(base, state, read)
  const head = useRoute('POST /testsets/revisions/retrieve', {
    body: {
      testset_variant_ref: { id: base.variantId },
      include_testcases: false,
      include_testcase_ids: false,
    },
  })
  const close = (): void => open(undefined)
  if (!head.data) return null
  return (
    <MergeSheet
      title="Cells that somebody else changed, too"
      family="testset"
      act="variants/merge"
      body={{ ...endsOf(base, merging), expected_target: head.data.testset_revision.id }}
      slug={testset.slug}
      names={{ target: base.variantSlug, source: 'your changes' }}
      action="Save merged version"
      message={message}
      kept={`merge rows ${merging.variantId}`}
      close={close}
      onMade={async () => {
        await putAway(merging.variantId)
        await state.saved()
        close()
      }}
    />
  )
}

function endsOf({ variantId }: RowsBase, aside: AsideRows) {
  return { source: { variant: { id: aside.variantId } }, target: { variant: { id: variantId } } }
}

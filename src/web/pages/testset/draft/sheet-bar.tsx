import { type ReactNode, useState } from 'react'
import { Button } from '../../../parts/button/button.tsx'
import { FormDialog, Modal } from '../../../parts/dialog/dialog.tsx'
import type { DraftLock } from '../../../parts/drafts/draft-lock.ts'
import { ChoiceField, TextField } from '../../../parts/fields/fields.tsx'
import type { GridPlace } from '../../../parts/grid/geometry.ts'
import { Menu, type MenuItem } from '../../../parts/menu/menu.tsx'
import { shownKeys, useCommands } from '../../../shell/commands.tsx'
import type { Testset, TestsetRevision } from '../rows.ts'
import { counted } from './cell-editor.tsx'
import { COLUMN_TYPES, type ColumnType, TYPE_WORDS } from './cell-values.ts'
import type { DraftCounts } from './rows-draft.ts'
import type { ReadRows } from './save-rows.ts'
import { SaveDialogs, type SaveDialog } from './save-dialogs.tsx'
import type { RowsBase, RowsDraftState } from './use-rows-draft.ts'
import type { AskedPaste, Sheet } from './use-sheet.ts'
import styles from '../testset.module.css'

export interface SheetBarProps {
  readonly testset: Testset
  readonly base: RowsBase
  /** The newest version. */
  readonly newest: TestsetRevision | undefined
  readonly state: RowsDraftState
  readonly sheet: Sheet
  readonly read: ReadRows
  readonly lock: DraftLock
  readonly active: GridPlace
  readonly columns: readonly string[]
  /** Why rows cannot be edited. */
  readonly refusal: string | undefined
}

/** Something that can be done to rows or columns, in a menu and in the palette. */
interface Act {
  readonly label: string
  readonly refusal: string | undefined
  readonly run: () => void
  /** A key that works in the grid. */
  readonly keys?: string
  readonly note?: string
}

/** The column dialog is open for a new column at this place, or for an existing one. */
type ColumnAsked = { readonly at: number; readonly isNew: boolean }

/** What the draft changes, what can be done to rows and columns, and the buttons that review and save it. */
export function SheetBar(props: SheetBarProps) {
  const { testset, base, newest, state, sheet, read, lock, active, columns, refusal } = props
  const { counts, isDirty, undo, redo, problem } = state
  const [dialog, setDialog] = useState<SaveDialog>()
  const [asked, setAsked] = useState<ColumnAsked>()
  const elsewhere = lock.isHeld === false ? 'Another tab of this browser edits these rows.' : undefined
  const why = refusal ?? elsewhere ?? (state.isSaved ? 'Saved. The new version is loading.' : undefined)
  const at = active.column - 1
  const noColumn = why ?? (at < 0 || at >= columns.length ? 'Go to a column first.' : undefined)
  const noRow = why ?? (sheet.rows.bottom < sheet.rows.top ? 'Go to a row first.' : undefined)
  const nothing = isDirty ? undefined : 'There are no changes.'
  const save = (): void => setDialog('save')
  const acts: Readonly<Record<'undo' | 'redo' | 'fill', Act>> = {
    undo: {
      label: 'Undo',
      keys: 'mod+z',
      refusal: why ?? (undo ? undefined : 'Nothing to undo.'),
      run: () => undo?.(),
    },
    redo: {
      label: 'Redo',
      keys: 'mod+y',
      refusal: why ?? (redo ? undefined : 'Nothing to redo.'),
      run: () => redo?.(),
    },
    fill: { label: 'Fill down', keys: 'mod+d', refusal: noRow, run: sheet.fillDown },
  }
  const rowActs: readonly Act[] = [
    acts.fill,
    { label: 'Insert a row above', refusal: why, run: sheet.insertAbove },
    { label: 'Insert a row below', refusal: why, run: sheet.insertBelow },
    { label: 'Duplicate the selected rows', refusal: noRow, run: sheet.duplicateRows },
    { label: 'Move the selected rows up', note: 'Alt+↑', refusal: noRow, run: () => sheet.moveRows(-1) },
    { label: 'Move the selected rows down', note: 'Alt+↓', refusal: noRow, run: () => sheet.moveRows(1) },
    { label: 'Remove the selected rows', refusal: noRow, run: sheet.removeRows },
  ]
  const columnActs: readonly Act[] = [
    { label: 'Add a column', refusal: why, run: () => setAsked({ at: columns.length, isNew: true }) },
    {
      label: 'Insert a column left of this one',
      refusal: noColumn,
      run: () => setAsked({ at, isNew: true }),
    },
    { label: 'Rename or change the type', refusal: noColumn, run: () => setAsked({ at, isNew: false }) },
    { label: 'Move the column left', refusal: noColumn, run: () => sheet.moveColumn(at, -1) },
    { label: 'Move the column right', refusal: noColumn, run: () => sheet.moveColumn(at, 1) },
    { label: 'Remove the column', refusal: noColumn, run: () => sheet.removeColumn(at) },
  ]
  useCommands([
    ...[acts.undo, acts.redo, ...rowActs, ...columnActs].map((act) => ({
      id: `sheet ${act.label}`,
      title: act.label,
      group: 'Rows',
      refusal: act.refusal,
      run: act.run,
      ...(act.keys === undefined ? {} : { keys: act.keys, isLocal: true }),
    })),
    {
      id: 'review rows',
      title: 'Review the changes',
      group: 'Rows',
      refusal: nothing,
      run: () => setDialog('review'),
    },
    { id: 'save rows', title: 'Save version', keys: 'mod+s', group: 'Rows', refusal: nothing, run: save },
  ])
  const item = ({ label, run, refusal: off, keys, note }: Act): MenuItem => {
    const shown = note ?? (keys && shownKeys(keys))
    return { ...{ label, run, refusal: off }, ...(shown === undefined ? {} : { note: shown }) }
  }
  return (
    <div className={styles.draft} role="group" aria-label="Changes of the rows">
      <Menu label="Row" returnTo={gridOfPage} items={rowActs.map(item)} />
      <Menu label="Column" returnTo={gridOfPage} items={columnActs.map(item)} />
      <Button kind="quiet" refusal={acts.undo.refusal} onClick={acts.undo.run} title="Undo (Ctrl+Z)">
        Undo
      </Button>
      <Button kind="quiet" refusal={acts.redo.refusal} onClick={acts.redo.run} title="Redo (Ctrl+Shift+Z)">
        Redo
      </Button>
      <p role="status" className={styles.said}>
        {isDirty ? (
          <b>{shownCounts(counts)}</b>
        ) : (
          why === undefined && sheet.said === '' && <span className="muted">No changes</span>
        )}
        {why !== undefined && <span className="muted"> {why}</span>}
        {sheet.said !== '' && <span> {sheet.said}</span>}
        {isDirty && state.isKept && <span className="muted"> Draft kept in this browser.</span>}
        {problem !== undefined && <span> The draft could not be kept in this browser: {problem}</span>}
        {isDirty && newest && newest.id !== base.id && (
          <span className="muted">
            {' '}
            v{newest.version} was saved meanwhile; saving merges your changes into it.
          </span>
        )}
      </p>
      {elsewhere !== undefined && refusal === undefined && <Button onClick={lock.takeOver}>Edit here</Button>}
      {isDirty && (
        <>
          <Button kind="quiet" onClick={() => setDialog('discard')}>
            Discard
          </Button>
          <Button onClick={() => setDialog('review')}>Review</Button>
        </>
      )}
      <Button
        kind={isDirty ? 'primary' : 'plain'}
        needs="write"
        refusal={nothing ?? why}
        onClick={save}
        title="Save version (Ctrl+S)"
      >
        Save version
      </Button>
      {columns.length === 0 && why === undefined && (
        <p className={styles.begin}>
          Rows need columns first: one for each input of your prompt, and one for the expected answer. Or
          paste a table from a spreadsheet.
          <Button kind="primary" needs="write" onClick={() => setAsked({ at: 0, isNew: true })}>
            Add the first column
          </Button>
        </p>
      )}
      {dialog && <SaveDialogs {...{ testset, base, state, read, dialog, refusal: why }} open={setDialog} />}
      {asked && (
        <ColumnDialog
          {...asked}
          {...{ columns, sheet }}
          close={() => {
            setAsked(undefined)
            setTimeout(() => gridOfPage()?.focus())
          }}
        />
      )}
      {sheet.asked && <PasteDialog asked={sheet.asked} {...{ columns, sheet }} />}
    </div>
  )
}

/** The keys go on where they were: in the grid. */
function gridOfPage(): HTMLElement | null {
  return document.querySelector<HTMLElement>('[role=grid]')
}

/** `3 changed, 1 added, 2 removed`. */
function shownCounts({ changed, added, removed, moved, columns }: DraftCounts): ReactNode {
  return Object.entries({ changed, added, removed, moved })
    .flatMap(([word, count]) => (count === 0 ? [] : [`${count.toLocaleString()} ${word}`]))
    .concat(columns === 0 ? [] : [`${counted(columns, 'column')} changed`])
    .join(', ')
}

interface ColumnDialogProps extends ColumnAsked {
  readonly columns: readonly string[]
  readonly sheet: Sheet
  readonly close: () => void
}

/** Adds a column, or changes the name and type of one. */
function ColumnDialog({ at, isNew, columns, sheet, close }: ColumnDialogProps) {
  const before = isNew ? '' : (columns[at] ?? '')
  const [name, setName] = useState(before)
  const [type, setType] = useState<ColumnType>(isNew ? 'text' : sheet.typeAt(at))
  const wanted = name.trim()
  const isTaken = wanted !== before && columns.includes(wanted)
  const action = isNew ? 'Add column' : 'Change column'
  return (
    <FormDialog
      title={isNew ? 'Add a column' : `Column ${before.slice(0, 100)}`}
      action={action}
      refusal={
        wanted === '' ? 'Give it a name first.' : isTaken ? 'Another column has this name.' : undefined
      }
      submit={() => {
        if (isNew) sheet.addColumn(at, wanted, type)
        else sheet.changeColumn(at, wanted, type)
        return Promise.resolve()
      }}
      close={close}
    >
      <TextField
        label="Name"
        value={name}
        autoFocus
        onChange={setName}
        problem={isTaken ? 'Another column has this name.' : undefined}
      />
      <ChoiceField
        label="Type"
        value={type}
        onChange={(chosen) => setType(chosen as ColumnType)}
        choices={COLUMN_TYPES.map((value) => ({ value, label: TYPE_WORDS[value] }))}
      />
      <p className="muted">
        The type says what you type and paste becomes. Cells that are there stay as they are; text that looks
        like JSON stays text unless the type is JSON.
      </p>
    </FormDialog>
  )
}

/** Rows and columns of a paste that are shown before it is done. */
const SHOWN = 6

/** Shows what a large paste would do. */
function PasteDialog({
  asked: { table, at },
  columns,
  sheet,
}: {
  readonly asked: AskedPaste
  readonly columns: readonly string[]
  readonly sheet: Sheet
}) {
  const [hasNames, setHasNames] = useState(columns.length === 0)
  const width = table.reduce((most, { length }) => Math.max(most, length), 0)
  const height = table.length - (hasNames ? 1 : 0)
  const newRows = Math.max(0, at.row + height - sheet.total)
  const newColumns = Math.max(0, at.column - 1 + width - columns.length)
  const adds = [
    newRows > 0 && counted(newRows, 'row'),
    newColumns > 0 && counted(newColumns, 'column'),
  ].filter(Boolean)
  return (
    <Modal
      open
      close={sheet.cancelPaste}
      title={`Paste ${counted(height, 'row')} of ${counted(width, 'column')}`}
      actions={
        <>
          <Button onClick={sheet.cancelPaste}>Cancel</Button>
          <Button kind="primary" onClick={() => sheet.pasteAsked(hasNames)}>
            Paste
          </Button>
        </>
      }
    >
      <p>
        The cells go in from row {(at.row + 1).toLocaleString()}, column {at.column.toLocaleString()}.{' '}
        {adds.length > 0 && <>This adds {adds.join(' and ')}. </>}
        It can be undone.
      </p>
      <label className="check">
        <input type="checkbox" checked={hasNames} onChange={() => setHasNames(!hasNames)} />
        The first row has the names of the columns
      </label>
      <div className={styles.preview} role="region" aria-label="The first cells" tabIndex={0}>
        <table>
          <tbody>
            {table.slice(0, SHOWN).map((row, index) => (
              <tr key={index}>
                {row.slice(0, SHOWN).map((cell, step) =>
                  hasNames && index === 0 ? (
                    <th key={step} scope="col" dir="auto">
                      {cell.slice(0, 80)}
                    </th>
                  ) : (
                    <td key={step} dir="auto">
                      {cell.slice(0, 80)}
                    </td>
                  ),
                )}
                {row.length > SHOWN && <td>…</td>}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Modal>
  )
}

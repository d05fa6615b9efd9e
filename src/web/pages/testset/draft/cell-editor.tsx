import { useState } from 'react'
import { parseJson } from '../../../api/json.ts'
import { Button } from '../../../parts/button/button.tsx'
import { Modal } from '../../../parts/dialog/dialog.tsx'
import { Editor } from '../../../parts/editor/editor.tsx'
import { ChoiceField, LongTextField } from '../../../parts/fields/fields.tsx'
import { prettyJson } from '../../../parts/json/json-view.tsx'
import { useCommands } from '../../../shell/commands.tsx'
import type { ColumnType } from './cell-values.ts'
import styles from '../testset.module.css'

export interface CellEditorProps {
  /** The row's number, from 1. */
  readonly number: number
  readonly column: string
  readonly value: unknown
  /** The type of the column. */
  readonly type: ColumnType
  readonly apply: (value: unknown) => void
  readonly close: () => void
}

/** Edits the whole value of a cell, as text or as JSON. Nothing is taken until it is applied. */
export function CellEditor({ number, column, value, type, apply, close }: CellEditorProps) {
  const isText = typeof value === 'string' || (value === undefined && type === 'text')
  const [form, setForm] = useState<'text' | 'json'>(isText ? 'text' : 'json')
  const [text, setText] = useState(() =>
    typeof value === 'string' ? value : value === undefined ? '' : prettyJson(JSON.stringify(value)),
  )
  const parsed = form === 'json' && text.trim() !== '' ? parsedJson(text) : undefined
  const problem = parsed && 'problem' in parsed ? parsed.problem : undefined

  function take(): void {
    if (problem !== undefined) return
    if (form === 'text') apply(text)
    else apply(parsed && 'value' in parsed ? parsed.value : undefined)
    close()
  }

  return (
    <Modal
      open
      close={close}
      sheet
      title={`${column.slice(0, 100)} of row ${number.toLocaleString()}`}
      actions={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button kind="primary" refusal={problem && 'The text is not JSON yet.'} onClick={take}>
            Apply
          </Button>
        </>
      }
    >
      <ApplyKey run={take} />
      <div className={styles.whole}>
        <ChoiceField
          label="The value is"
          value={form}
          onChange={(chosen) => setForm(chosen as 'text' | 'json')}
          choices={[
            { value: 'text', label: 'Text' },
            { value: 'json', label: 'JSON: a number, true, a list, an object' },
          ]}
        />
        {form === 'json' ? (
          <Editor label="Value as JSON" language="json" value={text} onChange={setText} problem={problem} />
        ) : (
          <>
            <p className="muted">
              {counted(text.length, 'character')}, {counted(text.split('\n').length, 'line')}
            </p>
            <LongTextField label="Text" rows={14} value={text} onChange={setText} />
          </>
        )}
      </div>
    </Modal>
  )
}

function ApplyKey({ run }: { readonly run: () => void }) {
  useCommands([{ id: 'apply cell', title: 'Apply the value', keys: 'mod+enter', group: 'Grid', run }])
  return null
}

function parsedJson(text: string): { readonly value: unknown } | { readonly problem: string } {
  try {
    return { value: parseJson(text) }
  } catch (error) {
    return { problem: `This is not JSON yet: ${error instanceof Error ? error.message : String(error)}` }
  }
}

/** `1 line`, `2 lines`. */
export function counted(count: number, one: string): string {
  return `${count.toLocaleString()} ${one}${count === 1 ? '' : 's'}`
}

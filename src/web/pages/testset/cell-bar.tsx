import { type FormEvent, useRef, useState } from 'react'
import { Button } from '../../parts/button/button.tsx'
import { cellText } from '../../parts/grid/cells.tsx'
import type { GridPlace } from '../../parts/grid/geometry.ts'
import { useCommands } from '../../shell/commands.tsx'
import { KEY_COLUMN, type Row } from './rows.ts'
import styles from './testset.module.css'

interface CellBarProps {
  readonly total: number
  readonly active: GridPlace
  readonly column: string
  /** The focused row; undefined while it is loading. */
  readonly row: Row | undefined
  /** Goes to a row by its number, from 1. */
  readonly go: (number: number) => void
  readonly open: () => void
  readonly history: () => void
}

/** The bar above the grid: a field to go to a row, and the value of the focused cell. */
export function CellBar({ total, active, column, row, go, open, history }: CellBarProps) {
  const [typed, setTyped] = useState<string>()
  const input = useRef<HTMLInputElement>(null)
  const here = String(active.row + 1)
  const number = Number((typed ?? here).replace(/[^0-9-]/g, ''))
  const problem = typed !== undefined && typed !== '' && (number < 1 || number > total)
  useCommands([
    {
      id: 'go to row',
      title: 'Go to a row by its number',
      keys: 'mod+g',
      group: 'Grid',
      run: () => input.current?.select(),
    },
  ])

  function submit(event: FormEvent): void {
    event.preventDefault()
    if (problem || number < 1) return
    setTyped(undefined)
    go(number)
  }

  const isKey = column === KEY_COLUMN
  return (
    <div className={styles.bar}>
      <form onSubmit={submit} className={styles.go}>
        <label>
          Row{' '}
          <input
            ref={input}
            className="control"
            inputMode="numeric"
            value={typed ?? here}
            onChange={(event) => setTyped(event.target.value)}
            onBlur={() => setTyped(undefined)}
            aria-invalid={problem || undefined}
            aria-describedby="rows-in-all"
            title="Go to a row by its number (Ctrl+G)"
          />
        </label>
        <span id="rows-in-all" className={problem ? 'bad' : 'muted'}>
          {active.row >= total && typed === undefined
            ? `new, after ${total.toLocaleString()}`
            : `of ${total.toLocaleString()}`}
        </span>
      </form>
      <output className={styles.value} aria-label="The cell that has the focus">
        <bdi>
          <b>{isKey ? 'Row ID' : column === '' ? 'no name' : column.slice(0, 60)}</b>
        </bdi>
        <code dir="auto">{row ? (isKey ? row.key : cellText(row.values[column])) : '…'}</code>
      </output>
      <div className={styles.buttons}>
        <Button
          kind="quiet"

          onClick={isKey ? history : open}
          title="Open the whole value (Shift+Enter)"
        >
          Open
        </Button>
        <Button kind="quiet" onClick={history} title="How the row came to be what it is (Ctrl+I)">
          History
        </Button>
      </div>
    </div>
  )
}

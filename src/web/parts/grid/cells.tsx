import { memo } from 'react'
import { ExactNumber } from '../../api/json.ts'
import type { Edges } from './geometry.ts'
import styles from './grid.module.css'

/** A row as the grid shows it. */
export interface GridRow {
  /** The value of the frozen column. */
  readonly key: string
  readonly values: Readonly<Record<string, unknown>>
  /** A note beside the row's number. */
  readonly note?: string | undefined
  /** The columns whose cells are edited, and not saved yet. */
  readonly edited?: ReadonlySet<string> | undefined
  /** Whether the row is not saved yet. */
  readonly isNew?: boolean | undefined
}

interface GridCellsProps {
  readonly id: string
  readonly index: number
  /** Its number; undefined for the empty row below the last one. */
  readonly number: number | undefined
  /** Undefined while it is loading. */
  readonly row: GridRow | undefined
  readonly columns: readonly string[]
  /** The columns from `from` to before `to` are drawn. */
  readonly from: number
  readonly to: number
  readonly edges: Edges
  readonly frozen: { readonly number: number; readonly key: number }
  /** The focused column, if it is in this row; 0 is the frozen one. */
  readonly active: number | undefined
  /** The first and the last selected column, if some are. */
  readonly selected?: readonly [from: number, to: number]
}

/** The cells of one row: number, key, and the visible columns. */
export const GridCells = memo(function GridCells({
  id,
  index,
  number,
  row,
  columns,
  from,
  to,
  edges,
  frozen,
  active,
  selected: [start, end] = [-1, -1],
}: GridCellsProps) {
  return (
    <>
      <div role="rowheader" aria-colindex={1} className={styles.number} style={{ width: frozen.number }}>
        {number === undefined ? (
          <span title="Type here to add a row">
            <span aria-hidden>+</span>
            <span className="visually-hidden">New row</span>
          </span>
        ) : (
          number.toLocaleString()
        )}
        {row?.note !== undefined && (
          <span className={styles.note} title={row.note}>
            <span className="visually-hidden">{row.note}</span>
          </span>
        )}
      </div>
      <div
        role="gridcell"
        id={`${id}-${index}-0`}
        aria-colindex={2}
        aria-selected={start === 0}
        data-focused={active === 0 || undefined}
        className={styles.key}
        style={{ width: frozen.key, insetInlineStart: frozen.number }}
      >
        {row ? row.isNew ? <i>new</i> : row.key : <span data-waiting className={styles.waiting} />}
      </div>
      <div className={styles.slide}>
        {columns.slice(from, to).map((name, step) => {
          const column = from + step
          const left = edges[column] ?? 0
          const value = row && Object.hasOwn(row.values, name) ? row.values[name] : undefined
          return (
            <div
              key={column}
              role="gridcell"
              id={`${id}-${index}-${column + 1}`}
              aria-colindex={column + 3}
              aria-selected={start <= column + 1 && column + 1 <= end}
              aria-description={row?.edited?.has(name) ? 'edited' : undefined}
              data-focused={active === column + 1 || undefined}
              data-state={row?.isNew ? 'new' : row?.edited?.has(name) ? 'edited' : undefined}
              className={styles.cell}
              dir="auto"
              data-kind={cellKind(value)}
              style={{ insetInlineStart: left, width: (edges[column + 1] ?? left) - left }}
            >
              {row ? cellText(value) : <span data-waiting className={styles.waiting} />}
            </div>
          )
        })}
      </div>
    </>
  )
})

/** Longer values are cut in a cell. */
const MOST_CHARACTERS = 240

/** A value as one line: texts as they are, other values as JSON, cut for a cell. */
export function cellText(value: unknown): string {
  if (typeof value === 'string') return inOneLine(value.slice(0, MOST_CHARACTERS))
  return value === undefined ? '' : inOneLine(jsonStart(value, MOST_CHARACTERS))
}

/** The style of a value: numbers are aligned at the end, other values than texts have a colour. */
function cellKind(value: unknown): 'text' | 'number' | 'json' | 'word' {
  if (typeof value === 'string' || value === undefined) return 'text'
  if (typeof value === 'number' || value instanceof ExactNumber) return 'number'
  return typeof value === 'object' && value !== null ? 'json' : 'word'
}

function inOneLine(text: string): string {
  return text.replace(/\s*[\r\n\u2028\u2029]+\s*/g, ' ⏎ ')
}

/** The start of a value's JSON. Reads no more of it than is shown, however large it is. */
function jsonStart(value: unknown, room: number): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, room))
  if (value instanceof ExactNumber) return value.text.slice(0, room)
  if (typeof value !== 'object' || value === null) return String(value)
  const isList = Array.isArray(value)
  let text = isList ? '[' : '{'
  let isFirst = true
  for (const key in value) {
    if (text.length >= room) return text
    const member = jsonStart((value as Readonly<Record<string, unknown>>)[key], room - text.length)
    text += `${isFirst ? '' : ', '}${isList ? '' : `${JSON.stringify(key.slice(0, room))}: `}${member}`
    isFirst = false
  }
  return text + (isList ? ']' : '}')
}

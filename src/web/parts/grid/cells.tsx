import { type CSSProperties, type KeyboardEvent, memo, useLayoutEffect, useRef, useState } from 'react'
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
              data-edited={row?.isNew || row?.edited?.has(name) || undefined}
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

/** A text that is being typed into a cell. */
export interface TypingBegun {
  readonly text: string
  /** What the cell holds. */
  readonly before: string
  /** Whether it replaces what the cell holds: then arrow keys end it, too. */
  readonly isReplacing: boolean
}

/** How typing ends: the key, or the focus went elsewhere. */
export type TypingEnd =
  'Enter' | 'Tab' | 'Back' | 'ArrowUp' | 'ArrowDown' | 'ArrowLeft' | 'ArrowRight' | 'Escape' | 'left'

/** Where the focus goes then. */
export const MOVES: Readonly<Partial<Record<TypingEnd, { readonly down: number; readonly right: number }>>> =
  {
    Enter: { down: 1, right: 0 },
    ArrowDown: { down: 1, right: 0 },
    ArrowUp: { down: -1, right: 0 },
    Tab: { down: 0, right: 1 },
    ArrowRight: { down: 0, right: 1 },
    Back: { down: 0, right: -1 },
    ArrowLeft: { down: 0, right: -1 },
  }

interface CellInputProps {
  readonly label: string
  readonly begun: TypingBegun
  /** Called once, with the text; undefined if it is given up. */
  readonly finish: (text: string | undefined, end: TypingEnd) => void
  readonly style: CSSProperties
}

/** The field over a cell that is edited. Enter and Tab take the text, Escape gives it up, Alt+Enter begins a line. */
export function CellInput({ label, begun, finish, style }: CellInputProps) {
  const [text, setText] = useState(begun.text)
  const field = useRef<HTMLTextAreaElement>(null)
  const isOver = useRef(false)
  useLayoutEffect(() => {
    field.current?.focus({ preventScroll: true })
    field.current?.setSelectionRange(begun.text.length, begun.text.length)
  }, [])
  useLayoutEffect(() => {
    const { current } = field
    if (!current) return
    current.style.width = current.style.height = '0'
    current.style.width = `${current.scrollWidth + 4}px`
    current.style.height = `${current.scrollHeight}px`
  }, [text])

  function end(how: TypingEnd): void {
    if (isOver.current) return
    isOver.current = true
    finish(how === 'Escape' ? undefined : text, how)
  }

  function onKeyDown(event: KeyboardEvent): void {
    const { key, nativeEvent } = event
    event.stopPropagation()
    if (nativeEvent.isComposing) return
    if (key === 'Enter' && (event.altKey || event.shiftKey)) {
      event.preventDefault()
      return (
        field.current?.setRangeText('\n', field.current.selectionStart, field.current.selectionEnd, 'end'),
        setText(field.current?.value ?? text)
      )
    }
    const how = key === 'Tab' && event.shiftKey ? 'Back' : key
    const isArrow = key.startsWith('Arrow')
    if (!isArrow && !(how in MOVES) && how !== 'Escape') return
    if (isArrow && !begun.isReplacing) return
    event.preventDefault()
    end(how as TypingEnd)
  }

  return (
    <textarea
      ref={field}
      className={styles.input}
      style={style}
      aria-label={label === '' ? 'Cell' : `Cell of ${label.slice(0, 100)}`}
      dir="auto"
      rows={1}
      value={text}
      onChange={(event) => setText(event.target.value)}
      onKeyDown={onKeyDown}
      onBlur={() => end('left')}
    />
  )
}

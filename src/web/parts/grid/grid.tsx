import {
  type ClipboardEvent,
  type CSSProperties,
  type KeyboardEvent,
  type MouseEvent,
  useEffect,
  useId,
  useState,
  useCallback,
  useMemo,
  type PointerEvent,
  memo,
} from 'react'
import { ExactNumber } from '../../api/json.ts'
import { useCommands } from '../../shell/commands.tsx'
import {
  columnsBetween,
  edgesOf,
  keepWidth,
  keptWidths,
  type Edges,
  type GridPlace,
  placeAfterKey,
  elementLength,
  useScroll,
} from './geometry.ts'
import styles from './grid.module.css'

interface GridProps {
  /** The name of the table for screen readers. */
  readonly label: string
  /** The name of the frozen column, and those of the others. */
  readonly keyName: string
  readonly columns: readonly string[]
  /** The number of rows. */
  readonly total: number
  /** A row by its index; undefined while it is loading. */
  readonly rowAt: (index: number) => GridRow | undefined
  /** Rows whose texts determine the initial widths of columns. */
  readonly sample: readonly GridRow[]
  /** Called with the visible rows, from `first` to before `end`. */
  readonly onSeen: (first: number, end: number) => void
  readonly active: GridPlace
  readonly onActive: (place: GridPlace) => void
  /** Called on Enter, or a double click. */
  readonly onOpen: (place: GridPlace) => void
  /** The key under which widths are saved in this browser. */
  readonly widthsKey: string
  /** The key of the row that is opened elsewhere on the page. */
  readonly marked?: string | undefined
}

const ROW = 28
const HEADER = 32
/** Rows drawn before and after the visible ones. */
const BEYOND = 4

/** A spreadsheet of any size: only the visible part is drawn and loaded. */
export function Grid({
  label,
  keyName,
  columns,
  total,
  rowAt,
  sample,
  onSeen,
  active,
  onActive,
  onOpen,
  widthsKey,
  marked,
}: GridProps) {
  const id = useId()
  const [room, setRoom] = useState(0)
  const { frozen, edges, resize } = useColumns({
    ...{ keyName, columns, total, sample, widthsKey, room },
    activeColumn: active.column,
  })
  const still = frozen.number + frozen.key
  const { element, onScroll, reveal, client, x, y, top, left } = useScroll(
    { width: edges[columns.length] ?? 0, height: total * ROW },
    { width: still, height: HEADER },
  )
  useEffect(() => setRoom(x.view), [x.view])

  const first = Math.min(Math.floor(top / ROW), Math.max(0, total - 1))
  const end = Math.min(total, Math.ceil((top + y.view) / ROW))
  useEffect(() => onSeen(first, end), [first, end, onSeen])
  const { from, to } = columnsBetween(edges, left, left + x.view)
  const drawn = Array.from(
    { length: Math.max(0, Math.min(total, end + BEYOND) - Math.max(0, first - BEYOND)) },
    (_, step) => Math.max(0, first - BEYOND) + step,
  )

  // The focused cell is scrolled into view, also when the page moves the focus. The user may scroll away from it afterwards.
  const isReady = client.height > 0
  useEffect(() => {
    if (!isReady) return
    const { row, column } = active
    const across = column === 0 ? undefined : ([edges[column - 1] ?? 0, edges[column] ?? 0] as const)
    reveal([row * ROW, (row + 1) * ROW], across)
  }, [active.row, active.column, isReady])

  function onKeyDown(event: KeyboardEvent): void {
    if (event.altKey) return
    if (event.key === 'Enter') {
      // Otherwise the opened dialog would get the same key press, and close.
      event.preventDefault()
      return onOpen(active)
    }
    const page = Math.max(1, Math.floor(y.view / ROW) - 1)
    const moved = placeAfterKey(active, event.key, event.ctrlKey || event.metaKey, {
      rows: total,
      columns: columns.length + 1,
      page,
    })
    if (!moved) return
    event.preventDefault()
    onActive(moved)
  }

  function onCopy(event: ClipboardEvent): void {
    const row = rowAt(active.row)
    if (!row || getSelection()?.isCollapsed === false) return
    const name = columns[active.column - 1]
    const value = name === undefined ? row.key : row.values[name]
    event.clipboardData.setData(
      'text/plain',
      typeof value === 'string' ? value : (JSON.stringify(value) ?? ''),
    )
    event.preventDefault()
  }

  function onPress(event: MouseEvent): void {
    const place = placeOf(event.target)
    if (!place) return
    if (event.type === 'dblclick') onOpen(place)
    else onActive(place)
  }

  return (
    <div
      ref={element}
      role="grid"
      tabIndex={0}
      aria-label={label}
      aria-rowcount={total + 1}
      aria-colcount={columns.length + 2}
      aria-readonly
      aria-activedescendant={
        active.row >= first - BEYOND && active.row < end + BEYOND
          ? `${id}-${active.row}-${active.column}`
          : undefined
      }
      className={styles.grid}
      onScroll={onScroll}
      onKeyDown={onKeyDown}
      onClick={onPress}
      onDoubleClick={onPress}
      onCopy={onCopy}
    >
      <div style={{ width: still + elementLength(x), height: HEADER + elementLength(y) }}>
        <div
          className={styles.window}
          style={
            {
              width: client.width,
              height: client.height,
              '--left': `${-left}px`,
              '--frozen': `${still}px`,
            } as CSSProperties
          }
        >
          <GridHeader {...{ keyName, columns, from, to, edges, frozen, resize }} />
          <div className={styles.rows}>
            {drawn.map((index) => (
              <div
                key={index}
                role="row"
                aria-rowindex={index + 2}
                className={styles.row}
                data-active={active.row === index || undefined}
                aria-current={(marked !== undefined && rowAt(index)?.key === marked) || undefined}
                style={{ transform: `translateY(${index * ROW - top}px)` }}
              >
                <GridCells
                  {...{ id, index, columns, from, to, edges, frozen }}
                  row={rowAt(index)}
                  active={active.row === index ? active.column : undefined}
                />
              </div>
            ))}
          </div>
        </div>
      </div>
    </div>
  )
}

/** The cell of an element; undefined if it is in none. */
function placeOf(target: EventTarget): GridPlace | undefined {
  const cell = (target as Element).closest('[role=gridcell], [role=rowheader]')
  const row = cell?.closest('[aria-rowindex]')
  if (!cell || !row) return undefined
  const column = Number(cell.getAttribute('aria-colindex')) - 2
  return { row: Number(row.getAttribute('aria-rowindex')) - 2, column: Math.max(0, column) }
}

interface ColumnsAsked {
  readonly keyName: string
  readonly columns: readonly string[]
  readonly total: number
  readonly sample: readonly GridRow[]
  readonly widthsKey: string
  /** The focused column, 0 for the frozen one. */
  readonly activeColumn: number
  /** The width beside the frozen columns, in px. */
  readonly room: number
}

/** The widths of the columns: as the user set them in this browser, otherwise from their values. */
function useColumns({ keyName, columns, total, sample, widthsKey, activeColumn, room }: ColumnsAsked) {
  const [widths, setWidths] = useState(() => keptWidths(widthsKey))
  const guessed = useMemo(() => columns.map((name) => guessedWidth(name, sample)), [columns, sample])
  const own = useMemo(
    () => columns.map((name, at) => widths.get(name) ?? guessed[at] ?? 0),
    [columns, widths, guessed],
  )
  const number = 24 + 8 * total.toLocaleString().length
  const key = widths.get(keyName) ?? 124
  const frozen = useMemo(() => ({ number, key }), [number, key])
  const edges = useMemo(() => edgesOf(own, room), [own, room])
  const resize = useCallback(
    (column: string, wanted: number) => setWidths((before) => keepWidth(widthsKey, before, column, wanted)),
    [widthsKey],
  )
  function resizeActive(by: number): void {
    const name = activeColumn === 0 ? keyName : columns[activeColumn - 1]
    if (name !== undefined) resize(name, (activeColumn === 0 ? key : (own[activeColumn - 1] ?? 0)) + by)
  }
  useCommands([
    { id: 'wider', title: 'Make the column wider', keys: '>', group: 'Grid', run: () => resizeActive(32) },
    {
      id: 'narrower',
      title: 'Make the column narrower',
      keys: '<',
      group: 'Grid',
      run: () => resizeActive(-32),
    },
  ])
  return { frozen, edges, resize }
}

/** The initial width of a column, in px, from its name and some values. */
function guessedWidth(name: string, sample: readonly GridRow[]): number {
  const longest = sample.reduce(
    (most, { values }) => Math.max(most, Object.hasOwn(values, name) ? cellText(values[name]).length : 0),
    Math.min(name.length, 30),
  )
  return Math.min(Math.max(longest * 9 + 32, 88), 320)
}

interface GridHeaderProps {
  readonly keyName: string
  readonly columns: readonly string[]
  readonly from: number
  readonly to: number
  readonly edges: Edges
  readonly frozen: { readonly number: number; readonly key: number }
  /** Called with a column's width, in px, while its edge is dragged. */
  readonly resize: (column: string, width: number) => void
}

/** The headers of the visible columns. Their edges can be dragged; `<` and `>` do the same. */
const GridHeader = memo(function GridHeader({
  keyName,
  columns,
  from,
  to,
  edges,
  frozen,
  resize,
}: GridHeaderProps) {
  return (
    <div role="row" aria-rowindex={1} className={styles.header}>
      <div role="columnheader" aria-colindex={1} className={styles.number} style={{ width: frozen.number }}>
        <span aria-hidden>#</span>
        <span className="visually-hidden">Row</span>
      </div>
      <div
        role="columnheader"
        aria-colindex={2}
        className={styles.key}
        style={{ width: frozen.key, insetInlineStart: frozen.number }}
        title={keyName}
      >
        {keyName}
        <Edge width={frozen.key} resize={(width) => resize(keyName, width)} />
      </div>
      <div className={styles.slide}>
        {columns.slice(from, to).map((name, step) => {
          const left = edges[from + step] ?? 0
          const width = (edges[from + step + 1] ?? left) - left
          return (
            <div
              key={from + step}
              role="columnheader"
              aria-colindex={from + step + 3}
              className={styles.cell}
              style={{ insetInlineStart: left, width }}
              title={name.slice(0, 500)}
            >
              {name === '' ? <i>no name</i> : <bdi>{name.slice(0, 120)}</bdi>}
              <Edge width={width} resize={(wanted) => resize(name, wanted)} />
            </div>
          )
        })}
      </div>
    </div>
  )
})

function Edge({ width, resize }: { readonly width: number; readonly resize: (width: number) => void }) {
  function drag(event: PointerEvent<HTMLSpanElement>): void {
    event.preventDefault()
    const edge = event.currentTarget
    const start = event.clientX
    edge.setPointerCapture(event.pointerId)
    const move = ({ clientX }: globalThis.PointerEvent): void => resize(width + clientX - start)
    edge.addEventListener('pointermove', move)
    edge.addEventListener('lostpointercapture', () => edge.removeEventListener('pointermove', move), {
      once: true,
    })
  }
  return <span aria-hidden className={styles.edge} onPointerDown={drag} />
}

/** A row as the grid shows it. */
export interface GridRow {
  /** The value of the frozen column. */
  readonly key: string
  readonly values: Readonly<Record<string, unknown>>
  /** A note beside the row's number. */
  readonly note?: string | undefined
}

interface GridCellsProps {
  readonly id: string
  readonly index: number
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
}

/** The cells of one row: number, key, and the visible columns. */
const GridCells = memo(function GridCells({
  id,
  index,
  row,
  columns,
  from,
  to,
  edges,
  frozen,
  active,
}: GridCellsProps) {
  return (
    <>
      <div role="rowheader" aria-colindex={1} className={styles.number} style={{ width: frozen.number }}>
        {(index + 1).toLocaleString()}
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
        aria-selected={active === 0}
        className={styles.key}
        style={{ width: frozen.key, insetInlineStart: frozen.number }}
      >
        {row ? row.key : <span data-waiting className={styles.waiting} />}
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
              aria-selected={active === column + 1}
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

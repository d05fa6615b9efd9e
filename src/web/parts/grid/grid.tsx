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
import { useCommands } from '../../shell/commands.tsx'
import { cellText, GridCells, type GridRow } from './cells.tsx'
import {
  columnsBetween,
  edgesOf,
  keepWidth,
  keptWidths,
  type Edges,
  type GridPlace,
  placeAfterKey,
  elementLength,
  rangeOf,
  useScroll,
} from './geometry.ts'
import styles from './grid.module.css'
import { CellInput, typingPlace, useTyping } from './typing.tsx'

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
  /** The other corner of the selected range; undefined if only the focused cell is selected. */
  readonly anchor?: GridPlace | undefined
  /** Called when the focus moves; `extends`: the selection goes from where it began to here. */
  readonly onActive: (place: GridPlace, extending?: boolean) => void
  /** Called on Enter or a double click, and on Shift+Enter in a grid that is edited. */
  readonly onOpen: (place: GridPlace) => void
  /** How cells are edited; undefined if they are not. */
  readonly editing?: GridEditing | undefined
  /** The key under which widths are saved in this browser. */
  readonly widthsKey: string
  /** The selected cells as text for the clipboard; undefined while they are not there. */
  readonly onCopy: () => string | undefined
  /** The key of the row that is opened elsewhere on the page. */
  readonly marked?: string | undefined
}

/** Edits cells as a spreadsheet does. Below the rows there is then an empty one, which becomes a row when something is typed. */
export interface GridEditing {
  /** The text of a cell to edit, or to replace by what is typed; undefined if it is not edited in its place. */
  readonly textOf: (place: GridPlace, isReplaced: boolean) => string | undefined
  /** Takes a typed text. */
  readonly enter: (place: GridPlace, text: string) => void
  readonly paste: (plain: string, html: string) => void
  /** Empties the selected cells, after they were cut. */
  readonly clear: () => void
  /** Other keys of a spreadsheet, such as Delete; whether it took the key. */
  readonly onKey: (event: KeyboardEvent) => boolean
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
  anchor,
  onActive,
  onOpen,
  onCopy,
  editing,
  widthsKey,
  marked,
}: GridProps) {
  const id = useId()
  const all = editing ? total + 1 : total
  const range = rangeOf(active, anchor)
  const { typing, begin, finish, onTypingKey } = useTyping({
    editing,
    active,
    columns: columns.length,
    onActive,
    onOpen,
    focus: () => element.current?.focus(),
  })
  const [room, setRoom] = useState(0)
  const { frozen, edges, resize } = useColumns({
    ...{ keyName, columns, total, sample, widthsKey, room },
    activeColumn: active.column,
  })
  const still = frozen.number + frozen.key
  const { element, onScroll, reveal, client, x, y, top, left } = useScroll(
    { width: edges[columns.length] ?? 0, height: all * ROW },
    { width: still, height: HEADER },
  )
  useEffect(() => setRoom(x.view), [x.view])

  const first = Math.min(Math.floor(top / ROW), Math.max(0, all - 1))
  const end = Math.min(all, Math.ceil((top + y.view) / ROW))
  useEffect(() => onSeen(first, end), [first, end, onSeen])
  const { from, to } = columnsBetween(edges, left, left + x.view)
  const drawn = Array.from(
    { length: Math.max(0, Math.min(all, end + BEYOND) - Math.max(0, first - BEYOND)) },
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
    if (event.target !== event.currentTarget || (event.altKey && !editing)) return
    if (event.key === 'Enter' || (editing && event.key === 'F2')) {
      // Otherwise the opened dialog would get the same key press, and close.
      event.preventDefault()
      return editing && !event.shiftKey ? begin(active) : onOpen(active)
    }
    if (editing?.onKey(event) || onTypingKey(event)) {
      event.preventDefault()
      // Nothing that is typed into a cell is a command of the page.
      event.stopPropagation()
      return
    }
    if (event.altKey) return
    const page = Math.max(1, Math.floor(y.view / ROW) - 1)
    const isFar = event.ctrlKey || event.metaKey
    const isOneDown = event.key === 'ArrowDown' && !isFar
    const moved = placeAfterKey(active, event.key, isFar, {
      rows: isOneDown || total === 0 ? all : Math.max(total, active.row + 1),
      columns: columns.length + 1,
      page,
    })
    if (!moved) return
    event.preventDefault()
    onActive(moved, event.shiftKey)
  }

  function copy(event: ClipboardEvent): void {
    if (isInField(event.target) || getSelection()?.isCollapsed === false) return
    const text = onCopy()
    if (text === undefined) return
    event.clipboardData.setData('text/plain', text)
    event.preventDefault()
  }

  function paste(event: ClipboardEvent): void {
    if (!editing || isInField(event.target)) return
    event.preventDefault()
    editing.paste(event.clipboardData.getData('text/plain'), event.clipboardData.getData('text/html'))
  }

  function onPress(event: MouseEvent): void {
    const place = placeOf(event.target)
    if (!place || event.button !== 0) return
    if (event.type === 'dblclick') return editing ? begin(place) : onOpen(place)
    // While the mouse is pressed, the selection grows.
    const isDrag = event.type === 'mousemove'
    if (isDrag && (event.buttons !== 1 || (place.row === active.row && place.column === active.column)))
      return
    if (editing) {
      event.preventDefault()
      element.current?.focus()
    }
    onActive(place, event.shiftKey || isDrag)
  }

  return (
    <div
      ref={element}
      role="grid"
      tabIndex={0}
      aria-label={label}
      aria-rowcount={all + 1}
      aria-colcount={columns.length + 2}
      aria-readonly={!editing}
      aria-multiselectable={editing ? true : undefined}
      aria-activedescendant={
        active.row >= first - BEYOND && active.row < end + BEYOND
          ? `${id}-${active.row}-${active.column}`
          : undefined
      }
      className={`card ${styles.grid}`}
      onScroll={onScroll}
      onKeyDown={onKeyDown}
      onMouseDown={onPress}
      onMouseMove={editing && onPress}
      onDoubleClick={onPress}
      onCopy={copy}
      onCut={(event) => {
        copy(event)
        if (editing && event.isDefaultPrevented()) editing.clear()
      }}
      onPaste={paste}
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
                  row={index < total ? rowAt(index) : BLANK}
                  number={index < total ? index + 1 : undefined}
                  active={active.row === index ? active.column : undefined}
                  {...(index >= range.top && index <= range.bottom
                    ? { selected: [range.left, range.right] as const }
                    : {})}
                />
              </div>
            ))}
            {typing && (
              <CellInput
                label={columns[active.column - 1] ?? ''}
                begun={typing}
                finish={finish}
                style={typingPlace({
                  start: still + (edges[active.column - 1] ?? 0) - left,
                  top: active.row * ROW - top,
                  width: (edges[active.column] ?? 0) - (edges[active.column - 1] ?? 0),
                  view: client.width,
                })}
              />
            )}
          </div>
        </div>
      </div>
    </div>
  )
}

/** The row below the last one. */
const BLANK: GridRow = { key: '', values: {} }

function isInField(target: EventTarget): boolean {
  return target instanceof HTMLTextAreaElement
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
    {
      id: 'wider',
      title: 'Make the column wider',
      keys: 'mod+>',
      group: 'Grid',
      run: () => resizeActive(32),
    },
    {
      id: 'narrower',
      title: 'Make the column narrower',
      keys: 'mod+<',
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

/** The headers of the visible columns. Their edges can be dragged; Ctrl+< and Ctrl+> do the same. */
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

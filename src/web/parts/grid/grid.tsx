import {
  type ClipboardEvent,
  type CSSProperties,
  type KeyboardEvent,
  type MouseEvent,
  type ReactNode,
  useCallback,
  useEffect,
  useId,
  useMemo,
  useState,
} from 'react'
import { useCommands } from '../../shell/commands.tsx'
import { cellText } from './cell-text.ts'
import { columnsBetween, edgesOf, keepWidth, keptWidths } from './column-layout.ts'
import { GridCells, type GridRow } from './grid-cells.tsx'
import { GridHeader } from './grid-header.tsx'
import styles from './grid.module.css'
import { type GridPlace, placeAfterKey } from './move-cell.ts'
import { elementLength } from './scroll-scale.ts'
import { useScroll } from './use-scroll.ts'

export interface GridProps {
  /** What the rows are, for whoever listens. */
  readonly label: string
  /** The name of the frozen column, and the names of the others. */
  readonly keyName: string
  readonly columns: readonly string[]
  /** How many rows there are. */
  readonly total: number
  /** A row by its number from 0; undefined while it is on its way. */
  readonly rowAt: (index: number) => GridRow | undefined
  /** Some rows, from whose texts columns that nobody resized get their widths. */
  readonly sample: readonly GridRow[]
  /** Told which rows are seen, from `first` to before `end`. */
  readonly onSeen: (first: number, end: number) => void
  readonly active: GridPlace | undefined
  readonly onActive: (place: GridPlace) => void
  /** Enter, or a double click. */
  readonly onOpen: (place: GridPlace) => void
  /** Under what widths are kept in this browser. */
  readonly widthsKey: string
  /** What lies over the grid. */
  readonly children?: ReactNode
}

const ROW = 28
const HEADER = 32
/** Rows that are drawn before and behind those that are seen. */
const BEYOND = 4

/** Rows and columns of any number, as a spreadsheet shows them: only what is seen is drawn, and asked for. */
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
  children,
}: GridProps) {
  const id = useId()
  const [widths, setWidths] = useState(() => keptWidths(widthsKey))
  const guessed = useMemo(() => columns.map((name) => guessedWidth(name, sample)), [columns, sample])
  const own = useMemo(
    () => columns.map((name, at) => widths.get(name) ?? guessed[at] ?? 0),
    [columns, widths, guessed],
  )
  const number = 28 + 8 * total.toLocaleString().length
  const key = widths.get(keyName) ?? 124
  const frozen = useMemo(() => ({ number, key }), [number, key])
  const [room, setRoom] = useState(0)
  const edges = useMemo(() => edgesOf(own, room), [own, room])
  const width = edges[columns.length] ?? 0
  const { element, onScroll, scrollTo, client, x, y, top, left } = useScroll(
    { width, height: total * ROW },
    { width: number + key, height: HEADER },
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

  const resize = useCallback(
    (column: string, wanted: number) => setWidths((before) => keepWidth(widthsKey, before, column, wanted)),
    [widthsKey],
  )
  function resizeActive(by: number): void {
    const column = active?.column ?? 0
    const name = column === 0 ? keyName : columns[column - 1]
    if (name !== undefined) resize(name, (column === 0 ? key : (own[column - 1] ?? 0)) + by)
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

  // What has the focus is seen: also when the page puts it there.
  const isReady = client.height > 0
  useEffect(() => {
    if (!active || !isReady) return
    const rowTop = active.row * ROW
    const isAbove = rowTop < top
    const isBelow = rowTop + ROW > top + y.view
    const [begin = 0, over = 0] =
      active.column === 0 ? [left, left] : [edges[active.column - 1], edges[active.column]]
    const isBefore = begin < left
    const isBehind = over > left + x.view
    if (!isAbove && !isBelow && !isBefore && !isBehind) return
    scrollTo({
      ...(isAbove ? { top: rowTop } : isBelow ? { top: rowTop + ROW - y.view } : {}),
      ...(isBefore ? { left: begin } : isBehind ? { left: Math.min(begin, over - x.view) } : {}),
    })
    // Only when it moves: whoever scrolls away from it may.
  }, [active?.row, active?.column, isReady])

  function onKeyDown(event: KeyboardEvent): void {
    if (event.altKey) return
    const place = active ?? { row: first, column: 0 }
    if (event.key === 'Enter' && active) return onOpen(active)
    const page = Math.max(1, Math.floor(y.view / ROW) - 1)
    const moved = placeAfterKey(place, event.key, event.ctrlKey || event.metaKey, {
      rows: total,
      columns: columns.length + 1,
      page,
    })
    if (!moved) return
    event.preventDefault()
    onActive(moved)
  }

  function onCopy(event: ClipboardEvent): void {
    const row = active && rowAt(active.row)
    if (!active || !row || getSelection()?.isCollapsed === false) return
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
    <div className={styles.frame}>
      <div
        ref={element}
        role="grid"
        tabIndex={0}
        aria-label={label}
        aria-rowcount={total + 1}
        aria-colcount={columns.length + 2}
        aria-readonly
        aria-activedescendant={
          active && active.row >= first - BEYOND && active.row < end + BEYOND
            ? `${id}-${active.row}-${active.column}`
            : undefined
        }
        className={styles.grid}
        onScroll={onScroll}
        onKeyDown={onKeyDown}
        onFocus={() => active ?? onActive({ row: first, column: 0 })}
        onClick={onPress}
        onDoubleClick={onPress}
        onCopy={onCopy}
      >
        <div
          className={styles.spacer}
          style={{ width: number + key + elementLength(x), height: HEADER + elementLength(y) }}
        >
          <div
            className={styles.window}
            style={
              {
                width: client.width,
                height: client.height,
                '--left': `${-left}px`,
                '--frozen': `${number + key}px`,
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
                  data-active={active?.row === index || undefined}
                  style={{ transform: `translateY(${index * ROW - top}px)` }}
                >
                  <GridCells
                    {...{ id, index, columns, from, to, edges, frozen }}
                    row={rowAt(index)}
                    active={active?.row === index ? active.column : undefined}
                  />
                </div>
              ))}
            </div>
          </div>
        </div>
      </div>
      {children}
    </div>
  )
}

/** Which cell something is in; undefined for what is in none. */
function placeOf(target: EventTarget): GridPlace | undefined {
  const cell = (target as Element).closest('[role=gridcell], [role=rowheader]')
  const row = cell?.closest('[aria-rowindex]')
  if (!cell || !row) return undefined
  const column = Number(cell.getAttribute('aria-colindex')) - 2
  return { row: Number(row.getAttribute('aria-rowindex')) - 2, column: Math.max(0, column) }
}

/** A width for a column, in px, of its name and its values in some rows. */
function guessedWidth(name: string, sample: readonly GridRow[]): number {
  const longest = sample.reduce(
    (most, { values }) => Math.max(most, Object.hasOwn(values, name) ? cellText(values[name]).length : 0),
    name.length + 2,
  )
  return Math.min(Math.max(longest * 8 + 20, 72), 320)
}

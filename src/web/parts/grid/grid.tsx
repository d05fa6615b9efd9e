import {
  type ClipboardEvent,
  type CSSProperties,
  type KeyboardEvent,
  type MouseEvent,
  useEffect,
  useId,
  useState,
} from 'react'
import { columnsBetween } from './column-layout.ts'
import { GridCells, type GridRow } from './grid-cells.tsx'
import { GridHeader } from './grid-header.tsx'
import styles from './grid.module.css'
import { type GridPlace, placeAfterKey } from './move-cell.ts'
import { elementLength } from './scroll-scale.ts'
import { useColumns } from './use-columns.ts'
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
  readonly active: GridPlace
  readonly onActive: (place: GridPlace) => void
  /** Enter, or a double click. */
  readonly onOpen: (place: GridPlace) => void
  /** Under what widths are kept in this browser. */
  readonly widthsKey: string
  /** The key of a row that is spoken of elsewhere on the page. */
  readonly marked?: string | undefined
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

  // What has the focus is seen, also when the page puts it there. Whoever scrolls away from it afterwards may.
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
      // Else what opens gets the rest of the key, and is closed by it.
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
      <div
        className={styles.spacer}
        style={{ width: still + elementLength(x), height: HEADER + elementLength(y) }}
      >
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

/** Which cell something is in; undefined for what is in none. */
function placeOf(target: EventTarget): GridPlace | undefined {
  const cell = (target as Element).closest('[role=gridcell], [role=rowheader]')
  const row = cell?.closest('[aria-rowindex]')
  if (!cell || !row) return undefined
  const column = Number(cell.getAttribute('aria-colindex')) - 2
  return { row: Number(row.getAttribute('aria-rowindex')) - 2, column: Math.max(0, column) }
}

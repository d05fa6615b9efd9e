import { X } from 'lucide-react'
import { useQuery } from '@tanstack/react-query'
import { useVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { call } from '../../api/call.ts'
import type { Evaluation } from '../../parts/evaluation/evaluation.tsx'
import { saidIn } from '../../parts/conversation/read-messages.ts'
import { clipped } from '../../parts/text/text.tsx'
import { useCommands } from '../../shell/commands.tsx'
import { outputOf, type RowResult } from './outcome.tsx'
import styles from './rows.module.css'
import { useChangeAddress, useAddress } from '../../shell/places.ts'

interface VirtualTableProps<T> {
  /** The name of the table for screen readers. */
  readonly label: string
  readonly columns: readonly string[]
  /** The column of numbers, aligned at the end. */
  readonly number?: string
  /** In pixels; a narrower window scrolls sideways. */
  readonly minWidth: number
  /** The widths of the columns, as in `grid-template-columns`. */
  readonly widths: string
  readonly rows: readonly T[]
  /** Lines of text in a row. */
  readonly lines: number
  readonly keyOf: (row: T) => string
  /** One element with the role cell for each column. */
  readonly cells: (row: T) => ReactNode
  /** Called when the end of the rows comes near. */
  readonly loadMore?: () => void
  /** The key of the opened row. */
  readonly opened: string | undefined
  readonly open: (key: string) => void
  readonly close: () => void
}

const LINE = 20
const PADDING = 13
/** Rows drawn before and after the visible ones. */
const AROUND = 8

/** Rows of equal height, of which only the visible ones are drawn. j, k and Enter move through them; an opened row follows. */
export function VirtualTable<T>(props: VirtualTableProps<T>) {
  const {
    label,
    columns,
    number,
    minWidth,
    widths,
    rows,
    lines,
    keyOf,
    cells,
    loadMore,
    opened,
    open,
    close,
  } = props
  const scroller = useRef<HTMLDivElement>(null)
  const height = LINE * lines + PADDING
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => height,
    overscan: AROUND,
  })
  const items = virtual.getVirtualItems()
  const last = items.at(-1)?.index ?? 0
  useEffect(() => {
    if (last + 3 * AROUND >= rows.length) loadMore?.()
  }, [last, rows.length, loadMore])

  const [at, setAt] = useState(() => rows.findIndex((row) => keyOf(row) === opened))
  const go = (to: number): void => {
    const next = Math.max(0, Math.min(rows.length - 1, to))
    const row = rows[next]
    setAt(next)
    virtual.scrollToIndex(next)
    // Otherwise Enter would press the last button again.
    scroller.current?.focus({ preventScroll: true })
    if (opened !== undefined && row) open(keyOf(row))
  }
  const here = rows[at]
  useCommands([
    { id: 'next', title: 'Next row', keys: 'j', run: () => go(at + 1) },
    { id: 'previous', title: 'Previous row', keys: 'k', run: () => go(at - 1) },
    { id: 'open', title: 'Open the row', keys: 'enter', run: () => here && open(keyOf(here)) },
    { id: 'close', title: 'Close the row', keys: 'escape', run: close },
  ])
  return (
    <div
      ref={scroller}
      className={`card ${styles.scroller}`}
      tabIndex={0}
      role="region"
      aria-label={`${label}, scrolled`}
    >
      <div role="table" aria-label={label} aria-rowcount={rows.length + 1} style={{ minWidth }}>
        <div role="rowgroup" className={styles.headGroup}>
          <div role="row" className={styles.head} style={{ gridTemplateColumns: widths }}>
            {columns.map((name) => (
              <span key={name} role="columnheader" className={name === number ? styles.number : undefined}>
                <bdi>{name}</bdi>
              </span>
            ))}
          </div>
        </div>
        <div role="rowgroup" className={styles.rows} style={{ height: virtual.getTotalSize() }}>
          {items.map(({ index, start }) => {
            const row = rows[index]
            if (!row) return null
            const key = keyOf(row)
            return (
              <div
                key={index}
                role="row"
                aria-rowindex={index + 2}
                className={styles.row}
                data-at={index === at || key === opened || undefined}
                style={{ transform: `translateY(${start}px)`, height, gridTemplateColumns: widths }}
                onClick={() => {
                  setAt(index)
                  open(key)
                }}
              >
                {cells(row)}
              </div>
            )
          })}
        </div>
      </div>
    </div>
  )
}

interface OpenedRowProps {
  /** What is beside the word *Row*: its dedup id, and how it compares. */
  readonly title: ReactNode
  readonly close: () => void
  readonly children: ReactNode
}

/** The opened row, beside the table. */
export function OpenedRow({ title, close, children }: OpenedRowProps) {
  return (
    <aside className={styles.panel} aria-label="The opened row">
      <header>
        <h2>Row {title}</h2>
        <button type="button" className="icon-button" onClick={close} aria-label="Close the row">
          <X size={16} aria-hidden />
        </button>
      </header>
      {children}
    </aside>
  )
}

interface InputsCellProps {
  /** Undefined if the row is gone. */
  readonly data: Readonly<Record<string, unknown>> | undefined
  readonly dedupId: string | undefined
  /** The column that is shown elsewhere. */
  readonly without: string | undefined
}

/** More columns would not be visible in two lines. */
const MOST_INPUTS = 12

/** The first columns of a row; a click anywhere on the row opens it. */
export function InputsCell({ data, dedupId = '', without }: InputsCellProps) {
  const inputs = Object.entries(data ?? {}).filter(([name]) => name !== without)
  return (
    <span role="cell" className="two-lines" dir="auto">
      <button type="button" className={styles.opener} aria-label={`Open the row ${dedupId}`} />
      {data === undefined && <i>The row is gone from its testset.</i>}
      {inputs.slice(0, MOST_INPUTS).map(([name, value]) => (
        <span key={name}>
          <bdi className="muted">{clipped(name)}</bdi> <bdi>{clipped(saidIn(value))}</bdi>{' '}
        </span>
      ))}
    </span>
  )
}

/** The prompt's output, or its error. */
export function OutputCell({ result }: { readonly result: RowResult | undefined }) {
  if (!result) return <span role="cell">–</span>
  const hasFailed = 'error' in result.application
  return (
    <span role="cell" className={hasFailed ? 'two-lines bad' : 'two-lines'} dir="auto">
      {hasFailed && <b>! error </b>}
      {clipped(outputOf(result))}
    </span>
  )
}

/** The column with the expected output, unless the parameters of a handler name another one. */
const USUAL = 'correct_answer'

/** The columns with expected outputs, as the evaluators name them. */
export function useExpectedColumns(evaluators: Evaluation['evaluators']): readonly string[] {
  const { data } = useQuery({
    queryKey: ['expected columns', evaluators.map((it) => it.revision_id)],
    queryFn: ({ signal }) =>
      Promise.all(evaluators.map(({ revision_id: id }) => columnOf(id, signal).catch(() => USUAL))),
    staleTime: Infinity,
  })
  return [...new Set([...(data ?? []), USUAL])]
}

async function columnOf(id: string, signal: AbortSignal): Promise<string> {
  const { workflow_revision: revision } = await call(
    'GET /workflows/revisions/{id}',
    { path: { id } },
    signal,
  )
  const { parameters } = (revision.data ?? {}) as { readonly parameters?: unknown }
  const { correct_answer_key: key } = (parameters ?? {}) as { readonly correct_answer_key?: unknown }
  return typeof key === 'string' && key !== '' ? key : USUAL
}

/** The expected output of a row: the first of the columns that it has. */
export function expectedOf(
  data: Readonly<Record<string, unknown>> | undefined,
  columns: readonly string[],
): { readonly column: string; readonly value: unknown } | undefined {
  const column = columns.find((name) => data !== undefined && Object.hasOwn(data, name))
  return column === undefined ? undefined : { column, value: data?.[column] }
}

/** The row opened by the address (`?row=`), and functions to open and close one. */
export function useOpenRow(): {
  readonly row: string | undefined
  readonly open: (row: string) => void
  readonly close: () => void
} {
  const { row } = useAddress()
  const change = useChangeAddress()
  return { row, open: (to) => change({ row: to }, true), close: () => change({ row: undefined }, true) }
}

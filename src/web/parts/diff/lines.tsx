import { useMemo, useState, memo, useEffect, useRef, useSyncExternalStore } from 'react'
import { flushSync } from 'react-dom'
import { visible } from '../text/text.tsx'
import {
  lineDiff,
  type Hunk,
  type LineDiff,
  type LineRow,
  type NumberedLine,
  type Part,
  wordMarks,
} from './line-diff.ts'
import styles from './diff.module.css'

interface TextDiffProps {
  /** The name of the texts for screen readers. */
  readonly label: string
  readonly base: string
  readonly head: string
  /** In the font of prompts, not of code. */
  readonly prose?: boolean
}

/** The changes between two texts, side by side or unified, with changed words marked and unchanged lines folded. */
export function TextDiff({ label, base, head, prose = false }: TextDiffProps) {
  const diff = useMemo(() => lineDiff(base, head), [base, head])
  return (
    <div className={styles.framed} role="group" aria-label={label}>
      {diff.changes === 0 ? (
        <p className={styles.same}>Nothing changed.</p>
      ) : (
        <LineTable label={label} diff={diff} prose={prose} />
      )}
    </div>
  )
}

interface LineTableProps {
  /** The name of the texts for screen readers. */
  readonly label: string
  readonly diff: LineDiff
  /** In the font of prompts, not of code. */
  readonly prose?: boolean
}

/** A click on a fold shows this many more rows. */
const STEP = 500
const MAX_BLOCKS_OBSERVED = 300

/** Two texts, side by side or unified. Unchanged lines are folded; rows far from the view are not drawn. */
export function LineTable({ label, diff: { rows, hunks }, prose = false }: LineTableProps) {
  const layout = useDiffLayout()
  const [opened, setOpened] = useState<ReadonlyMap<number, number>>(new Map())
  const [most, setMost] = useState(MAX_BLOCKS_OBSERVED)
  const items = useMemo(() => lineItems(rows, opened, hunks), [rows, opened, hunks])
  const isSplit = layout === 'split'
  const open = (from: number) =>
    setOpened((before) => new Map(before).set(from, (before.get(from) ?? 0) + STEP))
  return (
    <table className={`${styles.table} ${prose ? styles.prose : ''}`} aria-label={label} data-layout={layout}>
      <colgroup>
        <col className={styles.numbers} />
        <col className={isSplit ? undefined : styles.numbers} />
        {isSplit && <col className={styles.numbers} />}
        <col />
      </colgroup>
      <thead className="visually-hidden">
        <tr>
          {(isSplit
            ? ['Line before', 'Before', 'Line after', 'After']
            : ['Line before', 'Line after', 'Text']
          ).map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      {items.slice(0, most).map((item, at) =>
        item.kind === 'hunk' ? (
          <tbody key={`hunk ${item.from}`}>
            <tr>
              <td colSpan={isSplit ? 4 : 3} className={styles.hunk}>
                <HunkMark hunk={item.hunk} />
              </td>
            </tr>
          </tbody>
        ) : item.kind === 'fold' ? (
          <tbody key={`fold ${item.from}`}>
            <tr>
              <td colSpan={isSplit ? 4 : 3} className={styles.fold}>
                <button
                  type="button"
                  aria-label={`Show ${lines(item.count)} that did not change`}
                  onClick={() => open(item.from)}
                >
                  {lines(item.count)}
                </button>
              </td>
            </tr>
          </tbody>
        ) : (
          <LineRows
            key={item.from}
            rows={item.rows}
            changes={item.changes}
            layout={layout}
            isFirst={at < 2}
            goesOn={item.from > 0 && rows[item.from - 1]?.isSame === false}
          />
        ),
      )}
      {items.length > most && (
        <tbody>
          <tr>
            <td colSpan={isSplit ? 4 : 3} className={styles.fold}>
              <button type="button" onClick={() => setMost(most + MAX_BLOCKS_OBSERVED)}>
                show more
              </button>
            </td>
          </tr>
        </tbody>
      )}
    </table>
  )
}

/** As git writes it, and in words for screen readers. */
function HunkMark({ hunk: { base, head } }: { readonly hunk: Hunk }) {
  return (
    <>
      <span aria-hidden>
        @@ −{base.start},{base.lines} +{head.start},{head.lines} @@
      </span>
      <span className="visually-hidden">
        {lines(base.lines)} before from {base.start} on, {lines(head.lines)} after from {head.start} on
      </span>
    </>
  )
}

function lines(count: number): string {
  return count === 1 ? '1 line' : `${count.toLocaleString()} lines`
}

/** A block of the table: rows, a fold of unchanged rows, or a line with line numbers. */
type LineItem =
  | {
      readonly kind: 'rows'
      readonly from: number
      readonly rows: readonly LineRow[]
      readonly changes: number
    }
  | { readonly kind: 'fold'; readonly from: number; readonly count: number }
  | { readonly kind: 'hunk'; readonly from: number; readonly hunk: Hunk }

/** Unchanged lines shown around a change. */
const CONTEXT = 3
/** Rows per block; a block outside of the view is not drawn. */
const BLOCK = 60

/** Folds unchanged rows far from changes; `opened` has the number of rows that a fold shows, by the index of its first row. */
function lineItems(
  rows: readonly LineRow[],
  opened: ReadonlyMap<number, number>,
  hunks: ReadonlyMap<number, Hunk> = NO_HUNKS,
): readonly LineItem[] {
  const items: LineItem[] = []
  let from = 0
  while (from < rows.length) {
    const hunk = hunks.get(from)
    if (hunk) items.push({ kind: 'hunk', from, hunk })
    const isSame = rows[from]?.isSame === true
    let to = from + 1
    while (to < rows.length && (rows[to]?.isSame === true) === isSame && !hunks.has(to)) to++
    if (isSame) addSame(items, rows, from, to, opened)
    else addRows(items, rows, from, to)
    from = to
  }
  return items
}

const NO_HUNKS: ReadonlyMap<number, Hunk> = new Map()

function addSame(
  items: LineItem[],
  rows: readonly LineRow[],
  from: number,
  to: number,
  opened: ReadonlyMap<number, number>,
): void {
  const foldFrom = from === 0 ? 0 : from + CONTEXT
  const foldTo = to === rows.length ? to : to - CONTEXT
  // A fold of two lines saves nothing.
  if (foldTo - foldFrom < 3) return addRows(items, rows, from, to)
  const shown = Math.min(foldTo, foldFrom + (opened.get(foldFrom) ?? 0))
  addRows(items, rows, from, shown)
  if (shown < foldTo) items.push({ kind: 'fold', from: foldFrom, count: foldTo - shown })
  addRows(items, rows, foldTo, to)
}

/** Adds rows to the last block while it has room, so that many small changes need few blocks. */
function addRows(items: LineItem[], rows: readonly LineRow[], from: number, to: number): void {
  while (from < to) {
    const last = items.at(-1)
    const room = last?.kind === 'rows' ? BLOCK - last.rows.length : 0
    const end = Math.min(to, from + (room > 0 ? room : BLOCK))
    const more = rows.slice(from, end)
    const changes = rows[from]?.isSame === false && (from === 0 || rows[from - 1]?.isSame === true) ? 1 : 0
    if (last?.kind === 'rows' && room > 0) {
      items[items.length - 1] = { ...last, rows: [...last.rows, ...more], changes: last.changes + changes }
    } else {
      items.push({ kind: 'rows', from, rows: more, changes })
    }
    from = end
  }
}

interface LineRowsProps {
  readonly rows: readonly LineRow[]
  /** The number of changes that start in them. */
  readonly changes: number
  readonly layout: DiffLayout
  /** Drawn at once, not when it comes near the view. */
  readonly isFirst: boolean
  /** Whether the previous row is part of the same change. */
  readonly goesOn: boolean
}

/** The event that makes a block draw its rows. */
export const SHOW_EVENT = 'diff-show'

/** Some rows of a comparison; far from the view they are replaced by empty space. */
const LineRows = memo(function LineRows({ rows, changes, layout, isFirst, goesOn }: LineRowsProps) {
  const [isSeen, setSeen] = useState(isFirst)
  const body = useRef<HTMLTableSectionElement>(null)
  useEffect(() => {
    const element = body.current
    if (!element || isSeen) return
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && setSeen(true), {
      rootMargin: '1200px 0px',
    })
    observer.observe(element)
    const show = (): void => flushSync(() => setSeen(true))
    element.addEventListener(SHOW_EVENT, show)
    return () => {
      observer.disconnect()
      element.removeEventListener(SHOW_EVENT, show)
    }
  }, [isSeen])
  if (!isSeen) {
    return (
      <tbody ref={body} data-unseen={changes}>
        <tr style={{ height: rows.length * 24 }}>
          <td colSpan={layout === 'split' ? 4 : 3} />
        </tr>
      </tbody>
    )
  }
  return <tbody ref={body}>{layout === 'split' ? splitRows(rows, goesOn) : unifiedRows(rows, goesOn)}</tbody>
})

function splitRows(rows: readonly LineRow[], goesOn: boolean) {
  return rows.map((row, at) => {
    const marks = marksOf(row)
    return (
      <tr key={at} data-change={beginsChange(rows, at, goesOn) || undefined}>
        <Side side="base" line={row.base} isSame={row.isSame} parts={marks?.base} />
        <Side side="head" line={row.head} isSame={row.isSame} parts={marks?.head} />
      </tr>
    )
  })
}

function Side({
  side,
  line,
  isSame,
  parts,
}: {
  readonly side: 'base' | 'head'
  readonly line: NumberedLine | undefined
  readonly isSame: boolean
  readonly parts: readonly Part[] | undefined
}) {
  if (!line) return <td colSpan={2} className={styles.nothing} />
  const kind = isSame ? undefined : styles[side]
  return (
    <>
      <td className={`${styles.number} ${kind ?? ''}`}>{line.number}</td>
      <td className={`${styles.line} ${kind ?? ''}`} dir="auto">
        <Sign side={isSame ? undefined : side} />
        <LineText side={side} parts={parts ?? [{ text: line.text, isChanged: false }]} />
      </td>
    </>
  )
}

/** Of each change, the removed lines come before the added ones. */
function unifiedRows(rows: readonly LineRow[], goesOn: boolean) {
  const drawn = []
  for (let from = 0; from < rows.length;) {
    let to = from
    while (to < rows.length && rows[to]?.isSame === false) to++
    if (to === from) {
      drawn.push(<Unified key={from} row={rows[from]} side="head" begins={false} />)
      from++
      continue
    }
    let begins = beginsChange(rows, from, goesOn)
    for (const side of ['base', 'head'] as const) {
      for (let at = from; at < to; at++) {
        if (!rows[at]?.[side]) continue
        drawn.push(<Unified key={`${side} ${at}`} row={rows[at]} side={side} begins={begins} />)
        begins = false
      }
    }
    from = to
  }
  return drawn
}

function Unified({
  row,
  side,
  begins,
}: {
  readonly row: LineRow | undefined
  readonly side: 'base' | 'head'
  readonly begins: boolean
}) {
  const line = row?.[side]
  if (!row || !line) return null
  const kind = row.isSame ? '' : styles[side]
  const parts = marksOf(row)?.[side] ?? [{ text: line.text, isChanged: false }]
  return (
    <tr data-change={begins || undefined}>
      <td className={`${styles.number} ${kind}`}>{row.isSame || side === 'base' ? row.base?.number : ''}</td>
      <td className={`${styles.number} ${kind}`}>{row.isSame || side === 'head' ? row.head?.number : ''}</td>
      <td className={`${styles.line} ${kind}`} dir="auto">
        <Sign side={row.isSame ? undefined : side} />
        <LineText side={side} parts={parts} />
      </td>
    </tr>
  )
}

function Sign({ side }: { readonly side: 'base' | 'head' | undefined }) {
  return <span className={styles.lineSign}>{side === undefined ? ' ' : side === 'base' ? '−' : '+'}</span>
}

function marksOf({ base, head, isSame }: LineRow) {
  return isSame || !base || !head ? undefined : wordMarks(base.text, head.text)
}

function beginsChange(rows: readonly LineRow[], at: number, goesOn: boolean): boolean {
  if (rows[at]?.isSame !== false) return false
  return at === 0 ? !goesOn : rows[at - 1]?.isSame === true
}

interface LineTextProps {
  readonly side: 'base' | 'head'
  readonly parts: readonly Part[]
}

/** Longer lines are shown on request. */
const MOST = 2000
const CHARACTERS_BEFORE_FIRST_MARK = 200

/** A line with its changes marked; a long one is cut to start shortly before the first mark. */
export function LineText({ side, parts }: LineTextProps) {
  const [isOpen, setOpen] = useState(false)
  const length = parts.reduce((all, { text }) => all + text.length, 0)
  if (length <= MOST || isOpen) return <Marked side={side} parts={parts} />
  const mark = parts.findIndex(({ isChanged }) => isChanged)
  const before = parts.slice(0, Math.max(mark, 0)).reduce((all, { text }) => all + text.length, 0)
  const from = Math.max(0, before - CHARACTERS_BEFORE_FIRST_MARK)
  return (
    <>
      {from > 0 && '… '}
      <Marked side={side} parts={clipped(parts, from, from + MOST)} />
      {from + MOST < length && ' …'}{' '}
      <button type="button" className={styles.moreOfLine} onClick={() => setOpen(true)}>
        show all {length.toLocaleString()} characters
      </button>
    </>
  )
}

function Marked({ side, parts }: LineTextProps) {
  const Mark = side === 'base' ? 'del' : 'ins'
  return parts.map(({ text, isChanged }, at) =>
    isChanged ? <Mark key={at}>{visible(text)}</Mark> : <span key={at}>{visible(text)}</span>,
  )
}

function clipped(parts: readonly Part[], from: number, to: number): readonly Part[] {
  let at = 0
  return parts
    .map(({ text, isChanged }) => {
      const start = at
      at += text.length
      return { text: text.slice(Math.max(0, from - start), Math.max(0, to - start)), isChanged }
    })
    .filter(({ text }) => text !== '')
}

/** The layout of a comparison. */
type DiffLayout = 'split' | 'unified'

const KEY = 'branchpoint-diff'
const wide = matchMedia('(min-width: 1100px)')
const listeners = new Set<() => void>()

/** The user's choice in this browser; otherwise side by side on wide windows. */
export function useDiffLayout(): DiffLayout {
  return useSyncExternalStore(listen, current)
}

/** Saves the choice for all comparisons. */
export function chooseDiffLayout(layout: DiffLayout): void {
  localStorage.setItem(KEY, layout)
  for (const changed of listeners) changed()
}

function current(): DiffLayout {
  const kept = localStorage.getItem(KEY)
  if (kept === 'split' || kept === 'unified') return kept
  return wide.matches ? 'split' : 'unified'
}

function listen(changed: () => void): () => void {
  listeners.add(changed)
  wide.addEventListener('change', changed)
  return () => {
    listeners.delete(changed)
    wide.removeEventListener('change', changed)
  }
}

import { memo, useEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import type { DiffLayout } from '../diff-layout.ts'
import type { LineRow, NumberedLine } from '../model/line-diff.ts'
import { LineText } from './line-text.tsx'
import styles from './line-table.module.css'
import { type Part, wordMarks } from '../model/word-marks.ts'

export interface LineRowsProps {
  readonly rows: readonly LineRow[]
  /** How many changes begin in them. */
  readonly changes: number
  readonly layout: DiffLayout
  /** Drawn at once, not when they come near what is seen. */
  readonly isFirst: boolean
  /** Whether the row before the first one is part of the same change. */
  readonly goesOn: boolean
}

/** Told to draw what it leaves out. */
export const SHOW_EVENT = 'diff-show'

/** Some rows of a comparison; far from what is seen they are left out, and their room is kept. */
export const LineRows = memo(function LineRows({ rows, changes, layout, isFirst, goesOn }: LineRowsProps) {
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

/** Of each change first what was removed, then what was added. */
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
  return <span className={styles.sign}>{side === undefined ? ' ' : side === 'base' ? '−' : '+'}</span>
}

function marksOf({ base, head, isSame }: LineRow) {
  return isSame || !base || !head ? undefined : wordMarks(base.text, head.text)
}

function beginsChange(rows: readonly LineRow[], at: number, goesOn: boolean): boolean {
  if (rows[at]?.isSame !== false) return false
  return at === 0 ? !goesOn : rows[at - 1]?.isSame === true
}

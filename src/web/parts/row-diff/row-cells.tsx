import { useState } from 'react'
import { LineText } from '../diff/lines/line-text.tsx'
import { wordMarks } from '../diff/model/word-marks.ts'
import { TextDiff } from '../diff/text-diff.tsx'
import styles from './row-diff.module.css'
import type { ChangedRow } from './changed-rows.ts'

/** A longer text is shown in part. */
const LONG = 300

/** A cell that changed: what it was above what it is. */
export function ChangedCell({ base, head }: { readonly base: unknown; readonly head: unknown }) {
  const [isOpen, setOpen] = useState(false)
  const [before, after] = [textOf(base), textOf(head)]
  const isLong = (before?.length ?? 0) > LONG || (after?.length ?? 0) > LONG
  if (isOpen) {
    return (
      <td className={styles.wide}>
        <TextDiff label="What changed in the cell" base={before ?? ''} head={after ?? ''} />
        <button type="button" onClick={() => setOpen(false)}>
          show less
        </button>
      </td>
    )
  }
  const marks = isLong || before === undefined || after === undefined ? undefined : wordMarks(before, after)
  return (
    <td>
      <div className={styles.base} dir="auto">
        <span className={styles.sign}>−</span>
        {before === undefined ? <i>none</i> : <LineText side="base" parts={marks?.base ?? plain(before)} />}
      </div>
      <div className={styles.head} dir="auto">
        <span className={styles.sign}>+</span>
        {after === undefined ? <i>none</i> : <LineText side="head" parts={marks?.head ?? plain(after)} />}
      </div>
      {isLong && (
        <button type="button" onClick={() => setOpen(true)}>
          show what changed
        </button>
      )}
    </td>
  )
}

/** A cell of a row that is new or gone, or one that did not change. */
export function PlainCell({ kind, value }: { readonly kind: ChangedRow['kind']; readonly value: unknown }) {
  const text = textOf(value)
  const tone = kind === 'added' ? styles.head : kind === 'removed' ? styles.base : undefined
  return (
    <td className={tone} dir="auto">
      {text !== undefined && <LineText side="head" parts={plain(text)} />}
    </td>
  )
}

function plain(text: string) {
  const shown = text.length > LONG ? `${text.slice(0, LONG)} …` : text
  return [{ text: shown, isChanged: false }]
}

function textOf(value: unknown): string | undefined {
  if (value === undefined) return undefined
  if (typeof value === 'string') return value
  const compact = JSON.stringify(value)
  // What is opened is compared line by line.
  return compact.length <= LONG ? compact : JSON.stringify(value, null, 1)
}

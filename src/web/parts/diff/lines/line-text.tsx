import { useState } from 'react'
import styles from './line-table.module.css'
import { visible } from '../model/visible.ts'
import type { Part } from '../model/word-marks.ts'

export interface LineTextProps {
  readonly side: 'base' | 'head'
  readonly parts: readonly Part[]
}

/** More characters of one line are shown on request. */
const MOST = 2000
const CHARACTERS_BEFORE_FIRST_MARK = 200

/** A line with what changed in it marked; a long one from a little before its first mark. */
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
      <button type="button" className={styles.more} onClick={() => setOpen(true)}>
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

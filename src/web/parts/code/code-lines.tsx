import { useState } from 'react'
import { visible } from '../diff/model/visible.ts'
import styles from './code-lines.module.css'

export interface CodeLinesProps {
  /** What it is, for whoever listens. */
  readonly label: string
  readonly text: string
}

const LINES_PER_STEP = 500
/** More characters of one line than these are drawn when they are asked for. */
const LONGEST = 2000

/** Code or data, with the numbers of its lines. What is past some hundred lines, and the end of a very long one, waits until it is asked for. */
export function CodeLines({ label, text }: CodeLinesProps) {
  const [most, setMost] = useState(LINES_PER_STEP)
  const lines = text.split('\n')
  if (lines.length > 1 && lines.at(-1) === '') lines.pop()
  const rest = lines.length - most
  return (
    <div className={styles.code}>
      <div className={styles.scroll} tabIndex={0} role="region" aria-label={label}>
        <ol className={styles.lines}>
          {lines.slice(0, most).map((line, at) => (
            <li key={at}>
              <span aria-hidden className={styles.number}>
                {at + 1}
              </span>
              <Line text={line} />
            </li>
          ))}
        </ol>
      </div>
      {rest > 0 && (
        <button type="button" className={styles.more} onClick={() => setMost(most + 2 * LINES_PER_STEP)}>
          Show {Math.min(rest, 2 * LINES_PER_STEP).toLocaleString()} more of {lines.length.toLocaleString()}{' '}
          lines
        </button>
      )}
    </div>
  )
}

function Line({ text }: { readonly text: string }) {
  const [most, setMost] = useState(LONGEST)
  const rest = text.length - most
  return (
    <code dir="auto">
      {visible(rest > 0 ? text.slice(0, most) : text)}
      {rest > 0 && (
        <button type="button" className={styles.more} onClick={() => setMost(most + 50 * LONGEST)}>
          … {rest.toLocaleString()} characters more
        </button>
      )}
    </code>
  )
}

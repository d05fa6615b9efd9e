import { Fragment } from 'react'
import styles from './highlighted.module.css'

export interface HighlightedProps {
  readonly text: string
  /** Half-open, in UTF-16 units, in their order. */
  readonly ranges: readonly (readonly number[])[]
}

/** A text with some of its parts marked. */
export function Highlighted({ text, ranges }: HighlightedProps) {
  let end = 0
  const parts = ranges.map(([from = 0, to = 0]) => {
    const part = (
      <Fragment key={from}>
        {text.slice(end, from)}
        <mark className={styles.mark}>{text.slice(from, to)}</mark>
      </Fragment>
    )
    end = to
    return part
  })
  return (
    <>
      {parts}
      {text.slice(end)}
    </>
  )
}

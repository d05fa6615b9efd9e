import { type ReactNode, useState } from 'react'
import styles from './fold.module.css'

export interface FoldProps {
  readonly text: string
  /** How many lines are shown at first. */
  readonly lines?: number
  /** Draws the text; by itself it is plain. */
  readonly render?: (text: string) => ReactNode
}

/** A long text, folded after twelve lines, with a button that shows all of it. */
export function Fold({ text, lines = 12, render = (it) => it }: FoldProps) {
  const [isOpen, setOpen] = useState(false)
  const all = text.split('\n')
  const isLong = all.length > lines + 2 || text.length > MOST
  const shown = isOpen || !isLong ? text : all.slice(0, lines).join('\n').slice(0, MOST)
  return (
    <>
      <div className={styles.text} dir="auto">
        {render(shown)}
      </div>
      {isLong && (
        <button type="button" className={styles.more} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen
            ? 'show less'
            : all.length > lines + 2
              ? `show all ${all.length.toLocaleString()} lines`
              : `show all ${text.length.toLocaleString()} characters`}
        </button>
      )}
    </>
  )
}

/** More characters than this are folded even where they are one line. */
const MOST = 4000

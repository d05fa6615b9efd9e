import { type ReactNode, useState, Fragment } from 'react'
import styles from './text.module.css'

interface FoldProps {
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
  const isLong = all.length > lines + 2 || text.length > LONGEST_UNFOLDED
  const shown = isOpen || !isLong ? text : all.slice(0, lines).join('\n').slice(0, LONGEST_UNFOLDED)
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
const LONGEST_UNFOLDED = 4000

interface CodeLinesProps {
  /** What it is, for whoever listens. */
  readonly label: string
  readonly text: string
}

const LINES_PER_STEP = 500
/** More characters of one line than these are drawn when they are asked for. */
const LONGEST_LINE = 2000

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
        <button type="button" className={styles.moreCode} onClick={() => setMost(most + 2 * LINES_PER_STEP)}>
          Show {Math.min(rest, 2 * LINES_PER_STEP).toLocaleString()} more of {lines.length.toLocaleString()}{' '}
          lines
        </button>
      )}
    </div>
  )
}

function Line({ text }: { readonly text: string }) {
  const [most, setMost] = useState(LONGEST_LINE)
  const rest = text.length - most
  return (
    <code dir="auto">
      {visible(rest > 0 ? text.slice(0, most) : text)}
      {rest > 0 && (
        <button type="button" className={styles.moreCode} onClick={() => setMost(most + 50 * LONGEST_LINE)}>
          … {rest.toLocaleString()} characters more
        </button>
      )}
    </code>
  )
}

interface HighlightedProps {
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

/** A value as one text: texts as they are, everything else as JSON. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}

/** The same in fewer signs for an object: `country: Peru · capital: Lima`. */
export function excerptOf(value: unknown): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return clipped(textOf(value))
  const members = Object.entries(value).slice(0, MOST_MEMBERS)
  return clipped(members.map(([name, member]) => `${clipped(name)}: ${clipped(textOf(member))}`).join(' · '))
}

/** More members than this are not seen in a cell. */
const MOST_MEMBERS = 12

/** At most so many characters of a text, for a cell of a table: the rest is not seen there, and laying it out takes time. */
export function clipped(text: string): string {
  return text.length > LONGEST_EXCERPT ? `${text.slice(0, LONGEST_EXCERPT)}…` : text
}

const LONGEST_EXCERPT = 300

/** Characters that one cannot see, or that reorder what one sees: marks of direction, of no width, controls but for the tab. Joiners belong to letters and emoji. */
const HIDDEN =
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u00AD\u061C\u200B\u200E\u200F\u2028-\u202E\u2060-\u2069\uFEFF]/g

/** A text in which what is hidden can be read: a comparison that looks alike would lie. */
export function visible(text: string): string {
  return text.replace(HIDDEN, (character) =>
    character === '\r'
      ? '␍'
      : `⟨${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`,
  )
}

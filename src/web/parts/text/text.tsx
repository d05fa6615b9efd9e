import { type ReactNode, useState, Fragment } from 'react'
import styles from './text.module.css'

interface FoldProps {
  readonly text: string
  /** The number of lines shown at first. */
  readonly lines?: number
  /** Renders the text; plain by default. */
  readonly render?: (text: string) => ReactNode
}

/** A long text, folded after twelve lines, with a button that shows the rest. */
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
        <button
          type="button"
          className={`text-button ${styles.more}`}
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
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

/** Longer texts are folded even if they are one line. */
const LONGEST_UNFOLDED = 4000

interface CodeLinesProps {
  /** The name of the text for screen readers. */
  readonly label: string
  readonly text: string
}

const LINES_PER_STEP = 500
/** Longer lines are cut, and shown on request. */
const LONGEST_LINE = 2000

/** Code or data with line numbers. More than some hundred lines, and the rest of very long lines, are shown on request. */
export function CodeLines({ label, text }: CodeLinesProps) {
  const [most, setMost] = useState(LINES_PER_STEP)
  const lines = text.split('\n')
  if (lines.length > 1 && lines.at(-1) === '') lines.pop()
  const rest = lines.length - most
  return (
    <div className="card">
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
        <button
          type="button"
          className={`text-button ${styles.moreCode}`}
          onClick={() => setMost(most + 2 * LINES_PER_STEP)}
        >
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
        <button
          type="button"
          className={`text-button ${styles.moreCode}`}
          onClick={() => setMost(most + 50 * LONGEST_LINE)}
        >
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

/** A value as text: texts as they are, other values as JSON. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}

/** A short form of an object: `country: Peru · capital: Lima`. */
export function excerptOf(value: unknown): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return clipped(textOf(value))
  const members = Object.entries(value).slice(0, MOST_MEMBERS)
  return clipped(members.map(([name, member]) => `${clipped(name)}: ${clipped(textOf(member))}`).join(' · '))
}

/** More members would not be visible in a cell. */
const MOST_MEMBERS = 12

/** A size in units: `340 bytes`, `3.2 MB`. */
export function bytes(size: number): string {
  const at = Math.min(UNITS.length - 1, Math.floor(Math.log(Math.max(size, 1)) / Math.log(1024)))
  const digits = { maximumFractionDigits: at === 0 ? 0 : 1 }
  return `${(size / 1024 ** at).toLocaleString(undefined, digits)} ${UNITS[at]}`
}

const UNITS = ['bytes', 'KB', 'MB', 'GB', 'TB']

/** US dollars: two decimals from a cent up (`$3.40`), else two significant digits (`$0.0012`). */
export function dollars(amount: number): string {
  if (amount > 0 && amount < 0.000_001) return 'under $0.000001'
  if (amount > 0 && amount < 0.01) return `$${Number(amount.toPrecision(2))}`
  return `$${amount.toLocaleString(undefined, { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`
}

/** The amount in a record of costs; undefined if it has none that can be shown. */
export function costIn(costs: unknown): number | undefined {
  const total = (costs as { readonly total?: unknown } | null | undefined)?.total
  return typeof total === 'number' && total >= 0 && total < MOST_DOLLARS ? total : undefined
}

const MOST_DOLLARS = 1e9

/** Where the amounts of `dollars` come from. */
export const PRICED = 'By list prices, without discounts'

/** The start of a text, for a cell of a table: the rest would not be visible, but slow to lay out. */
export function clipped(text: string): string {
  return text.length > LONGEST_EXCERPT ? `${text.slice(0, LONGEST_EXCERPT)}…` : text
}

const LONGEST_EXCERPT = 300

/**
 * Characters that are invisible, or reorder others: direction marks, zero-width characters, controls except the tab. Joiners belong to letters and
 * emoji.
 */
const HIDDEN =
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u00AD\u061C\u200B\u200E\u200F\u2028-\u202E\u2060-\u2069\uFEFF]/g

/** Makes hidden characters visible: otherwise different texts could look equal. */
export function visible(text: string): string {
  return text.replace(HIDDEN, (character) =>
    character === '\r'
      ? '␍'
      : `⟨${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`,
  )
}

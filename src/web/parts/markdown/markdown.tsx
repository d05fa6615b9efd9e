import type { ReactNode } from 'react'
import ReactMarkdown from 'react-markdown'
import remarkGfm from 'remark-gfm'
import styles from './markdown.module.css'

/**
 * Markdown that anybody may have written: HTML in it is shown as text, images are their descriptions, links lead to http and https only. A text
 * whose structure would keep the browser busy for seconds is shown as it is written.
 */
export default function Markdown({ text }: { readonly text: string }) {
  if (!isQuick(text)) {
    return (
      <>
        <p className={styles.note}>
          This text has too much structure to be laid out. It is shown as written.
        </p>
        <pre className={styles.written} dir="auto" tabIndex={0}>
          {text}
        </pre>
      </>
    )
  }
  return (
    <div className={styles.markdown} dir="auto">
      <ReactMarkdown remarkPlugins={[remarkGfm]} urlTransform={(url) => url} components={COMPONENTS}>
        {text}
      </ReactMarkdown>
    </div>
  )
}

const COMPONENTS = {
  a: ({ href, children }: { readonly href?: string | undefined; readonly children?: ReactNode }) =>
    isWeb(href) ? (
      <a href={href} rel="noopener noreferrer" target="_blank">
        {children}
      </a>
    ) : (
      <span title={href}>{children}</span>
    ),
  img: ({ alt = '', src }: { readonly alt?: string | undefined; readonly src?: unknown }) => (
    <span className={styles.image} title={`Images are not loaded: ${String(src)}`}>
      {alt === '' ? 'image' : alt}
    </span>
  ),
  // The page has its own headings; those of a text are two levels below them.
  h1: heading,
  h2: heading,
  h3: heading,
  table: ({ children }: { readonly children?: ReactNode }) => (
    <div className={styles.table} tabIndex={0} role="region" aria-label="Table">
      <table>{children}</table>
    </div>
  ),
}

function heading({ children }: { readonly children?: ReactNode }) {
  return <h3>{children}</h3>
}

function isWeb(href: string | undefined): boolean {
  return href !== undefined && /^https?:\/\//i.test(href)
}

/** Lines and marks of a text that is laid out, a line once for each list and quote that it may be in: each may become an element. */
const MOST_MARKS = 8_000
/** Marks of one paragraph, which the parser tries to pair with each other: its time grows with their square. */
const MOST_MARKS_IN_PARAGRAPH = 1_000
/** Lists and quotes inside each other. */
const DEEPEST = 16
/** Columns of a table: each of its rows has them all, however short it is written. */
const MOST_COLUMNS = 64

/** Whether the parser reads a text quickly, told by one pass over its lines. */
function isQuick(text: string): boolean {
  let [all, inParagraph, columns, rows, containers] = [0, 0, 0, 0, 0]
  for (const line of text.split(/\r\n|\r|\n/)) {
    if (line.trim() === '') {
      ;[inParagraph, columns, rows, containers] = [0, 0, 0, 0]
      continue
    }
    const { depth, indent } = containersOf(line)
    if (/^\s*(?:[-+*]\s+\S|#{1,6}\s)/.test(line)) inParagraph = 0
    const pipes = count(line, /\|/g)
    const marks = count(line, /[[\]*_~`<>&@\\!:]|www\./gi)
    columns = Math.max(columns, pipes)
    rows += 1
    inParagraph += marks
    // A line without a mark of its own may go on with the paragraph of the one before, in whatever that is in.
    containers = Math.max(containers, depth)
    all += 1 + Math.max(containers, indent) + marks + pipes
    if (depth > DEEPEST || columns > MOST_COLUMNS || columns * rows > MOST_MARKS) return false
    if (inParagraph > MOST_MARKS_IN_PARAGRAPH || all > MOST_MARKS) return false
  }
  return true
}

/** How many lists and quotes a line may be in: by the marks that it begins with, and by its indent, of two columns each at least. */
function containersOf(line: string): { readonly depth: number; readonly indent: number } {
  const [begun = ''] = /^(?:[ \t]*(?:>|(?:[-+*]|\d{1,9}[.)])(?=[ \t]|$)))*/.exec(line) ?? []
  const [blank = ''] = /^[ \t]*/.exec(line) ?? []
  if (begun === '') return { depth: 0, indent: halfOf(blank) }
  return { depth: Math.max(count(begun, />|[-+*.)]/g), halfOf(begun)), indent: 0 }
}

/** Half of the columns that the blanks of a text take. */
function halfOf(text: string): number {
  return Math.ceil((count(text, / /g) + 4 * count(text, /\t/g)) / 2)
}

function count(text: string, of: RegExp): number {
  return text.match(of)?.length ?? 0
}

import type { ReactNode } from 'react'
import ReactMarkdown from 'react-markdown'
import remarkGfm from 'remark-gfm'
import styles from './markdown.module.css'

/**
 * Markdown from untrusted authors: HTML is shown as text, images as their descriptions, and links lead to http and https only. A text that would
 * take seconds to lay out is shown as it is written.
 */
export default function Markdown({ text }: { readonly text: string }) {
  if (!isQuick(text)) {
    return (
      <>
        <p className="muted">This text has too much structure to be laid out. It is shown as written.</p>
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
  // Headings of a text are two levels below those of the page.
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

/** The limit of lines and marks in a text, where a line counts once for each list and quote that it may be in: each may become an element. */
const MOST_MARKS = 8_000
/** The limit of marks in one paragraph: the parser tries to pair them, in quadratic time. */
const MOST_MARKS_IN_PARAGRAPH = 1_000
/** The limit of nested lists and quotes. */
const DEEPEST = 16
/** The limit of columns in a table: every row gets all of them. */
const MOST_COLUMNS = 64

/** Whether the parser is fast on this text, estimated in one pass over its lines. */
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
    // A line without marks may continue the previous paragraph, with its lists and quotes.
    containers = Math.max(containers, depth)
    all += 1 + Math.max(containers, indent) + marks + pipes
    if (depth > DEEPEST || columns > MOST_COLUMNS || columns * rows > MOST_MARKS) return false
    if (inParagraph > MOST_MARKS_IN_PARAGRAPH || all > MOST_MARKS) return false
  }
  return true
}

/** How many lists and quotes a line may be in: by its leading marks, and by its indent, of at least two columns each. */
function containersOf(line: string): { readonly depth: number; readonly indent: number } {
  const [begun = ''] = /^(?:[ \t]*(?:>|(?:[-+*]|\d{1,9}[.)])(?=[ \t]|$)))*/.exec(line) ?? []
  const [blank = ''] = /^[ \t]*/.exec(line) ?? []
  if (begun === '') return { depth: 0, indent: halfOf(blank) }
  return { depth: Math.max(count(begun, />|[-+*.)]/g), halfOf(begun)), indent: 0 }
}

/** Half of the columns of the white space in a text. */
function halfOf(text: string): number {
  return Math.ceil((count(text, / /g) + 4 * count(text, /\t/g)) / 2)
}

function count(text: string, of: RegExp): number {
  return text.match(of)?.length ?? 0
}

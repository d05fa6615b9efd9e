import { Fold } from '../fold/fold.tsx'
import { visible } from '../diff/model/visible.ts'
import { Embed } from './embed.tsx'
import { type TemplateFormat, variablesIn } from '../template/template-variables.ts'
import styles from './prompt.module.css'

export interface PromptTextProps {
  readonly text: string
  readonly format: TemplateFormat
}

/** More of a text than this, in characters, is read among the files. */
const MOST = 200_000

/** A text of a prompt: its variables marked, what it embeds folded, what one could not see made visible. */
export function PromptText({ text, format }: PromptTextProps) {
  const rest = text.length - MOST
  return (
    <>
      <Fold
        text={rest > 0 ? text.slice(0, MOST) : text}
        lines={24}
        render={(shown) => <Parts text={shown} format={format} />}
      />
      {rest > 0 && (
        <p className={styles.from}>{rest.toLocaleString()} characters more are among the files.</p>
      )}
    </>
  )
}

function Parts({ text, format }: PromptTextProps) {
  return partsOf(text, format).map((part, at) => {
    if (part.kind === 'embed') return <Embed key={at} of={part.text} />
    if (part.kind === 'text') return <span key={at}>{visible(part.text)}</span>
    return (
      <span
        key={at}
        className={part.kind === 'variable' ? styles.variable : styles.control}
        title={part.kind === 'variable' ? 'A variable' : `${format}: it steers what is written`}
      >
        {visible(part.text)}
      </span>
    )
  })
}

/** A piece of a template: words, a variable that is filled in, something that steers (a section, a loop), or what is embedded. */
interface TemplatePart {
  readonly kind: 'text' | 'variable' | 'control' | 'embed'
  readonly text: string
}

/** More marks than these are not told apart: the rest is one text. */
const TEMPLATE_PARTS_MOST = 2000

/** A template, piece by piece; together they are the text. */
function partsOf(text: string, format: TemplateFormat): readonly TemplatePart[] {
  const embeds = embedsIn(text).map((range) => ({ ...range, kind: 'embed' as const }))
  const variables = variablesIn(text, format)
    .filter(({ from, to }) => !embeds.some((embed) => embed.from < to && from < embed.to))
    .map(({ name, from, to }) => ({
      from,
      to,
      kind: name === '' ? ('control' as const) : ('variable' as const),
    }))
  const marks = [...embeds, ...variables].sort((a, b) => a.from - b.from).slice(0, TEMPLATE_PARTS_MOST)
  const parts: TemplatePart[] = []
  let done = 0
  for (const { from, to, kind } of marks) {
    if (from > done) parts.push({ kind: 'text', text: text.slice(done, from) })
    parts.push({ kind, text: text.slice(from, to) })
    done = to
  }
  if (done < text.length) parts.push({ kind: 'text', text: text.slice(done) })
  return parts
}

/** Half-open, in UTF-16 units. */
interface TextRange {
  readonly from: number
  readonly to: number
}

/** A token longer than this is none. */
const LONGEST = 1000

/** Where a text embeds something: `@svc.embed[…]` in one line, or `@{{…}}` that names something (docs/guide/snippets.md). */
function embedsIn(text: string): readonly TextRange[] {
  const found: TextRange[] = []
  const start = /@svc\.embed\[|@\{\{/g
  for (let at = start.exec(text); at; at = start.exec(text)) {
    const from = at.index
    const to = at[0] === '@{{' ? endOfShort(text, from) : endOfLong(text, from + at[0].length)
    if (to === undefined) continue
    found.push({ from, to })
    start.lastIndex = to
  }
  return found
}

/** What an embed in short must say to be one; everything else in such braces is text. */
const NAMES_SOMETHING =
  /\b(?:workflow|application|evaluator|environment)(?:_artifact|_variant|_revision)?\s*\.\s*(?:id|slug|version)\s*[=:]/

function endOfShort(text: string, from: number): number | undefined {
  const token = text.slice(from, from + LONGEST)
  const end = token.indexOf('}}')
  return end >= 0 && NAMES_SOMETHING.test(token.slice(0, end)) ? from + end + 2 : undefined
}

/** Behind the bracket that closes the one before `at`. */
function endOfLong(text: string, at: number): number | undefined {
  let depth = 1
  for (let index = at; index < text.length && index - at < LONGEST; index++) {
    const character = text[index]
    if (character === '\n') return undefined
    if (character === '[') depth++
    if (character === ']') depth--
    if (depth === 0) return index + 1
  }
  return undefined
}

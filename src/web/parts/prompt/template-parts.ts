/** The languages that a prompt may be written in (`template_format`). */
export type TemplateFormat = 'curly' | 'mustache' | 'fstring' | 'jinja2'

/** A piece of a template: words, a variable that is filled in, something that steers (a section, a loop), or what is embedded. */
export interface TemplatePart {
  readonly kind: 'text' | 'variable' | 'control' | 'embed'
  readonly text: string
  /** Of a variable, as it is called. */
  readonly name?: string
}

/** The format that a prompt says, or the one that it has where it says none. */
export function templateFormatOf(value: unknown): TemplateFormat {
  return value === 'mustache' || value === 'fstring' || value === 'jinja2' ? value : 'curly'
}

/** More marks than these are not told apart: the rest is one text. */
const MOST = 2000

/** A template, piece by piece; together they are the text. */
export function partsOf(text: string, format: TemplateFormat): readonly TemplatePart[] {
  const parts: TemplatePart[] = []
  const start = STARTS[format]
  let done = 0
  start.lastIndex = 0
  for (let found = start.exec(text); found && parts.length < MOST; found = start.exec(text)) {
    const mark = markAt(text, found.index, found[0], format)
    if (!mark) {
      start.lastIndex = found.index + (found[0] === '{{' && format === 'fstring' ? 2 : 1)
      continue
    }
    if (found.index > done) parts.push({ kind: 'text', text: text.slice(done, found.index) })
    parts.push(mark)
    done = found.index + mark.text.length
    start.lastIndex = done
  }
  if (done < text.length) parts.push({ kind: 'text', text: text.slice(done) })
  return parts
}

/** The names of the variables of a template, each once, in their order. */
export function variablesOf(text: string, format: TemplateFormat): readonly string[] {
  return [...new Set(partsOf(text, format).flatMap(({ name }) => name ?? []))]
}

/** Where a piece may begin. In an f-string two braces are one that is written. */
const STARTS: Readonly<Record<TemplateFormat, RegExp>> = {
  curly: /@svc\.embed\[|@\{\{|\{\{/g,
  mustache: /@svc\.embed\[|@\{\{|\{\{/g,
  jinja2: /@svc\.embed\[|@\{\{|\{\{|\{%|\{#/g,
  fstring: /@svc\.embed\[|@\{\{|\{\{|\{/g,
}

function markAt(text: string, at: number, begin: string, format: TemplateFormat): TemplatePart | undefined {
  if (begin === '@svc.embed[') {
    const end = endOfBrackets(text, at + begin.length)
    return end === undefined ? undefined : { kind: 'embed', text: text.slice(at, end) }
  }
  if (begin === '@{{') {
    const token = upTo(text, at, '}}')
    return token !== undefined && NAMES_SOMETHING.test(token) ? { kind: 'embed', text: token } : undefined
  }
  if (begin === '{%' || begin === '{#') {
    const token = upTo(text, at, begin === '{%' ? '%}' : '#}')
    return token === undefined ? undefined : { kind: 'control', text: token }
  }
  if (format === 'fstring') return begin === '{' ? field(text, at) : undefined
  const isTriple = format === 'mustache' && text.startsWith('{{{', at)
  const token = upTo(text, at, isTriple ? '}}}' : '}}')
  if (token === undefined) return undefined
  const inside = token.slice(isTriple ? 3 : 2, isTriple ? -3 : -2).trim()
  if (inside === '') return undefined
  if (format === 'mustache' && /^[#^/!>=]/.test(inside)) return { kind: 'control', text: token }
  return { kind: 'variable', text: token, name: inside.replace(/^&\s*/, '') }
}

/** What an embed in short must say to be one; everything else in such braces is text (contract: a token that names nothing is inert). */
const NAMES_SOMETHING =
  /\b(?:workflow|application|evaluator|environment)(?:_artifact|_variant|_revision)?\s*\.\s*(?:id|slug|version)\s*[=:]/

/** A name longer than this is no name. */
const LONGEST = 1000

function upTo(text: string, at: number, close: string): string | undefined {
  const end = text.indexOf(close, at + 2)
  return end < 0 || end - at > LONGEST ? undefined : text.slice(at, end + close.length)
}

function field(text: string, at: number): TemplatePart | undefined {
  const token = upTo(text, at, '}')
  const name = token && /^\{\s*([^{}!:]+?)\s*(?:![rsa])?(?::[^{}]*)?\}$/.exec(token)?.[1]
  return token === undefined || name === undefined || name === ''
    ? undefined
    : { kind: 'variable', text: token, name }
}

/** Behind the bracket that closes the one before `at`, in the same line. */
function endOfBrackets(text: string, at: number): number | undefined {
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

import { curlyTags } from './curly-tags.ts'

/** The four formats of a prompt's variables (interface 11.21). */
export type TemplateFormat = 'mustache' | 'curly' | 'fstring' | 'jinja2'

/** A variable in a template. */
export interface TemplateVariable {
  /** The input that it reads: `a` of `{{a.b.0}}`. Empty if it is not a name. */
  readonly name: string
  /** Half-open, in UTF-16 units, with its braces. */
  readonly from: number
  readonly to: number
}

/** The named format; `curly` by default. */
export function templateFormat(value: string | undefined): TemplateFormat {
  return value === 'mustache' || value === 'fstring' || value === 'jinja2' ? value : 'curly'
}

/** The variables in a text, for display. The server decides what they mean. */
export function variablesIn(text: string, format: TemplateFormat): readonly TemplateVariable[] {
  if (format === 'curly') {
    return [...curlyTags(text)].flatMap(({ name, from, to, text: { length } }) =>
      // without the backslashes before it: two of them write one
      name === undefined ? [] : [{ name: nameIn(name, format) ?? '', from: from + 2 * length, to }],
    )
  }
  return [...text.matchAll(PATTERNS[format])].flatMap((match) => {
    const [whole, inside = ''] = match
    const name = nameIn(inside, format)
    if (name === undefined) return []
    return [{ name, from: match.index, to: match.index + whole.length }]
  })
}

/** The names of the inputs used in the texts, each once, in order. */
export function variableNames(texts: readonly string[], format: TemplateFormat): readonly string[] {
  const names = texts.flatMap((text) => variablesIn(text, format).map(({ name }) => name))
  return [...new Set(names)].filter((name) => name !== '' && name !== 'inputs')
}

/** Each match is at most a few hundred characters long, so that no text is slow. */
const PATTERNS: Readonly<Record<Exclude<TemplateFormat, 'curly'>, RegExp>> = {
  mustache: /\{\{\{?((?:(?!\}\}|\{\{)[^]){1,400}?)\}?\}\}/g,
  jinja2: /\{\{((?:(?!\}\}|\{\{)[^]){1,400}?)\}\}|\{%[^]{1,400}?%\}/g,
  fstring: /\{\{|\}\}|\{([^{}]{1,400})\}/g,
}

function nameIn(inside: string, format: TemplateFormat): string | undefined {
  const said = inside.trim()
  if (format === 'fstring') return inside === '' ? undefined : (/^[^.[!:\s]+/.exec(said)?.[0] ?? '')
  if (format === 'jinja2') return /^[\p{XIDS}_]\p{XIDC}*/u.exec(said)?.[0] ?? ''
  if (format === 'mustache') {
    if (/^[!>=/]/.test(said)) return ''
    return firstStep(said.replace(/^[#^&]\s*/, ''))
  }
  return firstStep(said.replace(/^\$\.?/, '').replace(/^\//, ''))
}

function firstStep(path: string): string {
  const [first = '', second] = path.split(/[.[\]/]+/)
  return first === 'inputs' && second !== undefined && second !== '' ? second : first
}

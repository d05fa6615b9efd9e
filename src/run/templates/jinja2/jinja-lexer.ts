import { TemplateFailure } from '../template-format.ts'

/** A token of a Jinja2 template: text outside tags, the start or end of a tag, or a part of one. */
export interface JinjaToken {
  readonly kind: TokenKind
  /** The value of a string, the digits of a number, otherwise the text. */
  readonly value: string
  /** Its position in the template. */
  readonly at: number
}

type TokenKind =
  | 'text'
  | 'begin print'
  | 'end print'
  | 'begin tag'
  | 'end tag'
  /** A JSONPath that fills a print tag: `{{ $.rows[0] }}`. */
  | 'path'
  | 'name'
  | 'string'
  | 'integer'
  | 'float'
  | 'operator'

/**
 * Splits a template into tokens. Line breaks become line feeds; one at the end is dropped. Throws a
 * `TemplateFailure` for an unclosed tag, comment or text.
 */
export function jinjaTokens(template: string): readonly JinjaToken[] {
  return new Lexer(template.replace(/\r\n?/g, '\n').replace(/\n$/, '')).tokens()
}

const OPENING = /\{[{%#]/g
const CLOSING_COMMENT = /([-+]?)#\}/g
const RAW = /([-+]?)\s*raw\s*([-+]?)%\}/y
const END_RAW = /\{%([-+]?)\s*endraw\s*([-+]?)%\}/g
/** Ends at the first `}}`, because a path has no braces. */
const PATH = /([-+]?)\s*(\$[^]*?)([-+]?)\}\}/y
const SPACE = /\s*/y
const NAME = /[\p{XIDS}_]\p{XIDC}*/uy
const FLOAT = /[0-9][0-9_]*(?:\.[0-9][0-9_]*(?:e[-+]?[0-9_]+)?|e[-+]?[0-9_]+)/iy
const INTEGER = /0b[01_]+|0o[0-7_]+|0x[0-9a-f_]+|[0-9][0-9_]*/iy
const OPERATOR = /\*\*|\/\/|==|!=|>=|<=|[-+/*%~[\](){}<>=.:|,;]/y

class Lexer {
  readonly #template: string
  readonly #tokens: JinjaToken[] = []
  #at = 0
  /** Whether to trim white space at the start of the next text. */
  #trimsNext = false

  constructor(template: string) {
    this.#template = template
  }

  tokens(): readonly JinjaToken[] {
    while (this.#at < this.#template.length) {
      OPENING.lastIndex = this.#at
      const opening = OPENING.exec(this.#template)
      const end = opening?.index ?? this.#template.length
      const sign = opening ? this.#template.charAt(end + 2) : ''
      this.#text(this.#template.slice(this.#at, end), sign === '-')
      if (!opening) break
      this.#at = end + 2
      if (opening[0] === '{#') this.#comment(end)
      else if (opening[0] === '{{') this.#print(end)
      else if (!this.#raw(end)) this.#tag(end)
    }
    return this.#tokens
  }

  #text(text: string, trimsEnd: boolean): void {
    const begun = this.#trimsNext ? text.trimStart() : text
    const value = trimsEnd ? begun.trimEnd() : begun
    this.#trimsNext = false
    if (value !== '') this.#tokens.push({ kind: 'text', value, at: this.#at })
  }

  #comment(open: number): void {
    CLOSING_COMMENT.lastIndex = this.#at
    const closing = CLOSING_COMMENT.exec(this.#template)
    if (!closing) throw failureAt(this.#template, open, 'A comment is not closed; write #}.')
    this.#at = CLOSING_COMMENT.lastIndex
    this.#trimsNext = closing[1] === '-'
  }

  /** Reads a raw block, whose content is plain text. */
  #raw(open: number): boolean {
    RAW.lastIndex = this.#at
    const begun = RAW.exec(this.#template)
    if (!begun) return false
    END_RAW.lastIndex = RAW.lastIndex
    const ended = END_RAW.exec(this.#template)
    if (!ended) throw failureAt(this.#template, open, 'A raw block is not closed; write {% endraw %}.')
    const text = this.#template.slice(RAW.lastIndex, ended.index)
    this.#trimsNext = begun[2] === '-'
    this.#text(text, ended[1] === '-')
    this.#at = END_RAW.lastIndex
    this.#trimsNext = ended[2] === '-'
    return true
  }

  #print(open: number): void {
    this.#tokens.push({ kind: 'begin print', value: '{{', at: open })
    const begun = /^[-+]?\s*\$/.test(this.#template.slice(this.#at, this.#at + 100))
    if (!begun) return this.#inside('}}', 'end print', open)
    PATH.lastIndex = this.#at
    const path = PATH.exec(this.#template)
    if (!path) throw failureAt(this.#template, open, 'A {{$ is not closed; write }} behind the path.')
    this.#tokens.push({ kind: 'path', value: (path[2] ?? '').trim(), at: open })
    this.#at = PATH.lastIndex
    this.#trimsNext = path[3] === '-'
    this.#tokens.push({ kind: 'end print', value: '}}', at: this.#at - 2 })
  }

  #tag(open: number): void {
    this.#tokens.push({ kind: 'begin tag', value: '{%', at: open })
    this.#inside('%}', 'end tag', open)
  }

  /** Reads tokens up to the closing braces of the tag that began at `open`, ignoring a dictionary's. */
  #inside(close: string, kind: TokenKind, open: number): void {
    if ('-+'.includes(this.#template.charAt(this.#at) || ' ')) this.#at++
    let depth = 0
    for (;;) {
      this.#take(SPACE)
      if (this.#at >= this.#template.length)
        throw failureAt(
          this.#template,
          open,
          `A ${this.#template.slice(open, open + 2)} is not closed; write ${close}.`,
        )
      const sign = this.#template.charAt(this.#at)
      const at = '-+'.includes(sign) ? this.#at + 1 : this.#at
      if (depth === 0 && this.#template.startsWith(close, at)) {
        this.#tokens.push({ kind, value: close, at })
        this.#at = at + 2
        this.#trimsNext = sign === '-'
        return
      }
      const token = this.#token()
      if (token.kind === 'operator' && '([{'.includes(token.value)) depth++
      if (token.kind === 'operator' && ')]}'.includes(token.value)) depth--
      this.#tokens.push(token)
    }
  }

  #token(): JinjaToken {
    const at = this.#at
    const before = this.#template.charAt(at - 1)
    const first = this.#template.charAt(at)
    if (first === '"' || first === "'") return { kind: 'string', value: this.#string(first), at }
    // a number after a dot is a position: a.0.1
    const float = before === '.' ? undefined : this.#take(FLOAT)
    if (float !== undefined) return { kind: 'float', value: float.replaceAll('_', ''), at }
    const integer = this.#take(INTEGER)
    if (integer !== undefined) return { kind: 'integer', value: integer.replaceAll('_', ''), at }
    const name = this.#take(NAME)
    if (name !== undefined) return { kind: 'name', value: name, at }
    const operator = this.#take(OPERATOR)
    if (operator !== undefined) return { kind: 'operator', value: operator, at }
    const character = String.fromCodePoint(this.#template.codePointAt(at) ?? 0)
    throw failureAt(this.#template, at, `Nothing can begin with ${JSON.stringify(character)}.`)
  }

  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#template)
    if (!found) return undefined
    this.#at = pattern.lastIndex
    return found[0]
  }

  #string(quote: string): string {
    const open = this.#at++
    let text = ''
    for (let from = this.#at; ;) {
      const char = this.#template.charAt(this.#at)
      if (char === '') throw failureAt(this.#template, open, `A text is not closed; write ${quote}.`)
      if (char !== quote && char !== '\\') {
        this.#at++
        continue
      }
      text += this.#template.slice(from, this.#at)
      if (char === quote) break
      text += this.#escape()
      from = this.#at
    }
    this.#at++
    return text
  }

  /** Reads an escape sequence as Python does; an unknown one stays unchanged. */
  #escape(): string {
    for (const [pattern, base] of ESCAPES) {
      const digits = this.#take(pattern)
      if (digits === undefined) continue
      const point = Number.parseInt(digits.replace(/^\\[xuU]?/, ''), base)
      return point > 0x10ffff ? digits : String.fromCodePoint(point)
    }
    const letter = this.#template.charAt(this.#at + 1)
    this.#at += 1 + letter.length
    return LETTERS[letter] ?? `\\${letter}`
  }
}

const ESCAPES: readonly (readonly [RegExp, number])[] = [
  [/\\x[0-9a-fA-F]{2}/y, 16],
  [/\\u[0-9a-fA-F]{4}/y, 16],
  [/\\U[0-9a-fA-F]{8}/y, 16],
  [/\\[0-7]{1,3}/y, 8],
]

const LETTERS: Readonly<Record<string, string>> = {
  '\n': '',
  '\\': '\\',
  "'": "'",
  '"': '"',
  a: '\u0007',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
}

/** A failure that names the line of the template. */
export function failureAt(template: string, at: number, sentence: string): TemplateFailure {
  const line = template.slice(0, at).split('\n').length
  return new TemplateFailure(`${sentence.replace(/\.$/, '')} (line ${line} of the jinja2 template).`)
}

import { type Json, type JsonObject, getKey, isJsonArray, isJsonObject } from '../../../json/json.ts'
import { formatValue } from './format-spec.ts'
import { asciiOnly, pythonRepr, pythonText } from '../python-repr.ts'
import { RenderBudget } from '../render-budget.ts'
import { TemplateFailure, variablesThere } from '../template-format.ts'

/**
 * Renders what Python's `str.format` does (interface 11.22): `{name}`, `{name[key][0]}`, `{name!r}`, `{name:>10.2f}`, where the
 * format may hold fields itself; `{{` and `}}` are braces. Attributes (`{name.key}`) are refused, as JSON has none.
 */
export function renderFString(template: string, variables: JsonObject, budget: RenderBudget): string {
  return new FString(template, variables, budget).render()
}

/** Throws a `TemplateFailure` for a template that cannot be read. */
export function readFString(template: string): void {
  new FString(template, undefined, new RenderBudget()).render()
}

class FString {
  readonly #template: string
  /** Undefined where it is only read. */
  readonly #variables: JsonObject | undefined
  readonly #budget: RenderBudget
  #at = 0

  constructor(template: string, variables: JsonObject | undefined, budget: RenderBudget) {
    this.#template = template
    this.#variables = variables
    this.#budget = budget
  }

  render(): string {
    let rendered = ''
    for (;;) {
      const brace = this.#next(/[{}]/g)
      rendered += this.#template.slice(this.#at, brace)
      if (brace === this.#template.length) return rendered
      const character = this.#template.charAt(brace)
      if (this.#template.charAt(brace + 1) === character) {
        rendered += character
        this.#at = brace + 2
      } else if (character === '}') {
        throw new TemplateFailure(`The } at ${brace} closes nothing; write }} for a brace.`)
      } else {
        this.#at = brace + 1
        const text = this.#field(brace, 0)
        this.#budget.output(text.length)
        rendered += text
      }
    }
  }

  /** The text of the field whose brace is at `open`, and the position behind it. */
  #field(open: number, depth: number): string {
    const value = this.#valueOf(this.#name(open), open)
    const shown = this.#take('!') ? converted(value, this.#template.charAt(this.#at++)) : value
    const spec = this.#take(':') ? this.#spec(open, depth) : ''
    if (!this.#take('}')) throw unclosed(open)
    return this.#variables ? formatValue(shown, spec) : ''
  }

  /** Everything up to `!`, `:` or `}`, of which a key in brackets may hold any. */
  #name(open: number): string {
    const begin = this.#at
    for (;;) {
      const end = this.#next(/[!:}{[]/g)
      const character = this.#template.charAt(end)
      if (end === this.#template.length || character === '{') throw unclosed(open)
      this.#at = end
      if (character !== '[') return this.#template.slice(begin, end)
      const close = this.#template.indexOf(']', end)
      if (close === -1) throw unclosed(open)
      this.#at = close + 1
    }
  }

  #valueOf(field: string, open: number): Json {
    const [name = ''] = /^[^.[]*/.exec(field) ?? []
    if (name === '')
      throw new TemplateFailure(`The field at ${open} has no name; write {name}, or {{ for a brace.`)
    let value: Json | undefined = this.#variables ? getKey(this.#variables, name) : null
    if (this.#variables && value === undefined) {
      throw new TemplateFailure(`The variable '${name}' is missing. ${variablesThere(this.#variables)}`)
    }
    let rest = field.slice(name.length)
    while (rest !== '') {
      const [step, key] = /^\[([^\]]+)\]/.exec(rest) ?? []
      if (step === undefined || key === undefined) {
        throw new TemplateFailure(
          `{${field}} cannot be followed; write keys and positions in brackets: {a[b][0]}.`,
        )
      }
      if (this.#variables && value !== undefined) value = memberOf(value, key)
      if (value === undefined) throw new TemplateFailure(`There is no '${key}' for {${field}}.`)
      rest = rest.slice(step.length)
    }
    return value ?? null
  }

  /** The format behind the colon, its own fields filled in. */
  #spec(open: number, depth: number): string {
    let spec = ''
    for (;;) {
      const brace = this.#next(/[{}]/g)
      spec += this.#template.slice(this.#at, brace)
      this.#at = brace
      if (brace === this.#template.length) throw unclosed(open)
      if (this.#template.charAt(brace) === '}') return spec
      if (depth > 0) throw new TemplateFailure(`The format of the field at ${open} is nested too deeply.`)
      this.#at = brace + 1
      spec += this.#field(brace, depth + 1)
    }
  }

  #take(character: string): boolean {
    if (this.#template.charAt(this.#at) !== character) return false
    this.#at++
    return true
  }

  /** Where the first of these characters is; the end of the template if none is. */
  #next(characters: RegExp): number {
    characters.lastIndex = this.#at
    return characters.exec(this.#template)?.index ?? this.#template.length
  }
}

function memberOf(value: Json, key: string): Json | undefined {
  if (isJsonArray(value)) return /^[0-9]+$/.test(key) ? value[Number(key)] : undefined
  return isJsonObject(value) ? getKey(value, key) : undefined
}

function converted(value: Json, conversion: string): string {
  if (conversion === 's') return pythonText(value)
  if (conversion === 'r') return pythonRepr(value)
  if (conversion === 'a') return asciiOnly(pythonRepr(value))
  throw new TemplateFailure(`The conversion '!${conversion}' is unknown; use !r, !s or !a.`)
}

function unclosed(open: number): TemplateFailure {
  return new TemplateFailure(`The { at ${open} is not closed; write {{ for a brace.`)
}

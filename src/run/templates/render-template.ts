import {
  type JsonObject,
  isJsonArray,
  isJsonObject,
  type Json,
  getKey,
  keysOf,
  numberOf,
  canonicalJson,
} from '../../base/json.ts'
import { readFString, renderFString } from './fstring.ts'
import { readJinja2, renderJinja2 } from './jinja2/jinja2.ts'
import { RenderBudget } from './render-budget.ts'
import { TemplateFailure, type TemplateFormat, variablesThere } from './template-format.ts'
import { curlyTags } from './curly-tags.ts'
import { resolvePath } from './resolve-path.ts'
import { spacedJson } from './spaced-json.ts'
import mustache from 'mustache'
import { valueText } from './value-text.ts'

/**
 * Renders Mustache (interface 11.22) without HTML escaping: missing values and null become nothing, objects and arrays become JSON text,
 * and `{{$…}}` is a JSONPath into all variables, which must match. Partials, empty tags and NUL are refused.
 */
function renderMustache(template: string, variables: JsonObject, budget: RenderBudget): string {
  const writer = new JsonWriter(budget)
  return readable(template, writer, (tokens) =>
    writer.write(tokens, new JsonContext(variables, variables, budget)),
  )
}

/** Throws a `TemplateFailure` for a template that does not parse. */
function readMustache(template: string): void {
  readable(template, new mustache.Writer() as Pick<JsonWriter, 'parse'>, () => undefined)
}

function readable<T>(
  template: string,
  writer: Pick<JsonWriter, 'parse'>,
  use: (tokens: readonly Token[]) => T,
): T {
  if (template.includes('\0')) throw new TemplateFailure('A mustache template must not hold a NUL character.')
  try {
    const tokens = writer.parse(template)
    refuseUnwanted(tokens)
    return use(tokens)
  } catch (error) {
    // the library throws ordinary errors for templates that do not parse
    if (!(error instanceof Error) || error instanceof TemplateFailure || error instanceof RangeError)
      throw error
    throw new TemplateFailure(`The mustache template cannot be read: ${error.message}.`)
  }
}

/** A token of a parsed template: its kind, its name or text, its begin and end, and the tokens inside a section. */
type Token = readonly [kind: string, text: string, start: number, end: number, inner?: unknown]

function refuseUnwanted(tokens: readonly Token[]): void {
  for (const [kind, text, start, , inner] of tokens) {
    if (kind === '>') {
      throw new TemplateFailure(
        `The partial {{>${text}}} at ${start} has nowhere to come from; write its text instead.`,
      )
    }
    if (text === '' && kind !== '!' && kind !== 'text') {
      throw new TemplateFailure(`The tag at ${start} is empty; name a variable in it.`)
    }
    if (isSection(kind)) refuseUnwanted(tokensOf(inner))
  }
}

function isSection(kind: string): boolean {
  return kind === '#' || kind === '^'
}

function tokensOf(inner: unknown): readonly Token[] {
  // the library puts the tokens inside a section there
  return inner as readonly Token[]
}

/** The library's parser and handling of lines; values are exact JSON, and every step counts against the budget. */
class JsonWriter extends mustache.Writer {
  readonly #budget: RenderBudget

  constructor(budget: RenderBudget) {
    super()
    this.#budget = budget
  }

  override parse(template: string): Token[] {
    // typed as any by the library
    return super.parse(template) as Token[]
  }

  /** The text of tokens, with names resolved in the context. */
  write(tokens: readonly Token[], context: JsonContext): string {
    let rendered = ''
    for (const [kind, text, , , inner] of tokens) {
      this.#budget.step()
      if (kind === 'text') rendered += this.#paid(text)
      else if (kind === '#') rendered += this.#section(context.lookup(text), tokensOf(inner), context)
      else if (kind === '^')
        rendered += isFalsy(context.lookup(text)) ? this.write(tokensOf(inner), context) : ''
      else if (kind === 'name' || kind === '&') rendered += this.#paid(shown(context.lookup(text)))
    }
    return rendered
  }

  #section(value: Json | undefined, tokens: readonly Token[], context: JsonContext): string {
    if (value === undefined || isFalsy(value)) return ''
    let rendered = ''
    for (const item of isJsonArray(value) ? value : [value]) {
      this.#budget.step()
      rendered += this.write(tokens, context.push(item))
    }
    return rendered
  }

  #paid(text: string): string {
    this.#budget.output(text.length)
    return text
  }
}

function shown(value: Json | undefined): string {
  return value === undefined || value === null ? '' : valueText(value)
}

function isFalsy(value: Json | undefined): boolean {
  if (value === undefined || value === null || value === false || value === '') return true
  if (isJsonArray(value)) return value.length === 0
  return isJsonObject(value) ? keysOf(value).length === 0 : numberOf(value) === 0
}

/** Resolves names among own members only, then in the enclosing sections. */
class JsonContext extends mustache.Context {
  readonly #value: Json
  readonly #variables: JsonObject
  readonly #budget: RenderBudget
  readonly #outer: JsonContext | undefined

  constructor(value: Json, variables: JsonObject, budget: RenderBudget, outer?: JsonContext) {
    super(undefined)
    this.#value = value
    this.#variables = variables
    this.#budget = budget
    this.#outer = outer
  }

  override push(value: Json): JsonContext {
    return new JsonContext(value, this.#variables, this.#budget, this)
  }

  override lookup(name: string): Json | undefined {
    if (name === '.') return this.#value
    if (name.startsWith('$')) return this.#selected(name)
    const steps = name.split('.')
    for (let context: JsonContext | undefined = this; context; context = context.#outer) {
      this.#budget.step()
      const found = descend(context.#value, steps)
      if (found !== undefined) return found
    }
    return undefined
  }

  #selected(path: string): Json {
    const value = resolvePath(path, this.#variables)
    if (value === undefined) throw new TemplateFailure(`The JSONPath {{${path}}} finds nothing.`)
    return value
  }
}

function descend(value: Json, steps: readonly string[]): Json | undefined {
  let at: Json | undefined = value
  for (const step of steps) {
    if (isJsonArray(at)) at = /^[0-9]+$/.test(step) ? at[Number(step)] : undefined
    else if (isJsonObject(at)) at = getKey(at, step)
    else return undefined
  }
  return at
}

/**
 * Renders `{{ expression }}` (interface 11.21): a variable's name, a dotted path, a JSONPath or a JSON Pointer; see `curlyTags`. Inserted
 * text is not rendered again. Throws a `TemplateFailure` that names all expressions without a value, and the available variables.
 */
function renderCurly(template: string, variables: JsonObject, budget: RenderBudget): string {
  const missing = new Set<string>()
  let rendered = ''
  let done = 0
  for (const { name, text, from, to } of curlyTags(template)) {
    const value = name === undefined ? '' : resolvePath(name, variables)
    if (value === undefined) missing.add(name ?? '')
    const put = text + (value === undefined ? '' : curlyText(value))
    budget.output(put.length)
    rendered += template.slice(done, from) + put
    done = to
  }
  if (missing.size > 0) {
    const names = [...missing].sort().map((name) => `'${name}'`)
    throw new TemplateFailure(
      `Unreplaced variables in curly template: [${names.join(', ')}]. ${variablesThere(variables)}`,
    )
  }
  return rendered + template.slice(done)
}

/** Texts unchanged; `null`, `true`, `false` and numbers as in RFC 8785; objects and arrays as JSON text with spaces. */
function curlyText(value: Json): string {
  if (typeof value === 'string') return value
  return isJsonArray(value) || isJsonObject(value) ? spacedJson(value) : canonicalJson(value)
}

/** Maximum characters of a template. */
const LONGEST_TEMPLATE = 1024 * 1024

/**
 * Renders a template (interface 11.21). Throws a `TemplateFailure`, and nothing else, for a template that does not parse, that uses a
 * missing value, or that exceeds the rest of the budget.
 */
export function renderTemplate(
  format: TemplateFormat,
  template: string,
  variables: JsonObject,
  budget: RenderBudget = new RenderBudget(),
): string {
  return bounded(template, budget, () => ENGINES[format](template, variables, budget))
}

/** Throws a `TemplateFailure` for a template that fails with any variables: it does not parse, or names something unknown. */
export function assertReadable(format: TemplateFormat, template: string, budget: RenderBudget): void {
  bounded(template, budget, () => READERS[format](template))
}

function bounded<T>(template: string, budget: RenderBudget, work: () => T): T | '' {
  if (template.length > LONGEST_TEMPLATE) {
    throw new TemplateFailure(
      `The template has ${template.length} characters; at most ${LONGEST_TEMPLATE} are read. Pass long texts as variables.`,
    )
  }
  budget.output(template.length)
  if (template === '') return ''
  try {
    return budget.timed(work)
  } catch (error) {
    if (error instanceof RangeError) {
      throw new TemplateFailure('The template is nested too deeply, or makes a text that is too long.')
    }
    throw error
  }
}

const ENGINES: Readonly<
  Record<TemplateFormat, (template: string, variables: JsonObject, budget: RenderBudget) => string>
> = { mustache: renderMustache, curly: renderCurly, fstring: renderFString, jinja2: renderJinja2 }

const READERS: Readonly<Record<TemplateFormat, (template: string) => void>> = {
  mustache: readMustache,
  // Every text is a valid curly template: braces without a name are text.
  curly: () => undefined,
  fstring: readFString,
  jinja2: readJinja2,
}

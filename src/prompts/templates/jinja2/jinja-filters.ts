import type { JinjaFilter } from './jinja-filter.ts'
import type { JinjaValue } from './jinja-library.ts'
import { JINJA_NUMBER_FILTERS } from './jinja-number-filters.ts'
import {
  ITEM_SIZE,
  isList,
  isMapping,
  isMissing,
  isNumber,
  isText,
  jsonOfJinja,
  jinjaList,
  jinjaText,
} from './jinja-values.ts'
import { pythonText } from '../python-repr.ts'
import type { RenderBudget } from '../render-budget.ts'
import { spacedJson } from '../spaced-json.ts'
import { TemplateFailure } from '../template-format.ts'

/** Spaces that one line or level may be indented by. */
const WIDEST_INDENT = 100

/** Filters and methods of ours. Those that could make much of little pay for what they make before they do. */
export class JinjaFilters {
  readonly #budget: RenderBudget
  readonly #filters: ReadonlyMap<string, JinjaFilter>
  readonly #methods: ReadonlyMap<string, JinjaFilter>

  constructor(budget: RenderBudget) {
    this.#budget = budget
    this.#filters = new Map<string, JinjaFilter>([
      ['string', (operand) => jinjaText(this.text(operand))],
      ['tojson', (operand, args, named) => this.#toJson(operand, args, named)],
      ['join', (operand, args, named) => this.#join(operand, args, named)],
      ['indent', (operand, args, named) => this.#indent(operand, args, named)],
      ['replace', (operand, args, named) => this.#replace(operand, args, named)],
      ['list', (operand) => this.#list(operand)],
      ...JINJA_NUMBER_FILTERS,
    ])
    this.#methods = new Map<string, JinjaFilter>([
      ['replace', (operand, args, named) => this.#replace(operand, args, named)],
      ['split', (operand, args, named) => this.#split(operand, args, named)],
      ['join', (operand, [items = jinjaList([])]) => this.#join(items, [operand], new Map())],
    ])
  }

  find(name: string): JinjaFilter | undefined {
    return this.#filters.get(name)
  }

  /** A method of texts. */
  findMethod(name: string): JinjaFilter | undefined {
    return this.#methods.get(name)
  }

  /** A value as it is shown in the text: as Python's `str()` does; nothing for what is missing. */
  text(value: JinjaValue): string {
    if (isText(value)) return value.value
    if (isMissing(value)) return ''
    return pythonText(jsonOfJinja(value, this.#spend), this.#spend)
  }

  /** A text's characters, each a text. */
  characters(text: string): readonly JinjaValue[] {
    this.#budget.work(text.length * ITEM_SIZE)
    return Array.from(text, jinjaText)
  }

  readonly #spend = (size: number): void => this.#budget.work(size)

  #toJson(
    operand: JinjaValue,
    args: readonly JinjaValue[],
    named: ReadonlyMap<string, JinjaValue>,
  ): JinjaValue {
    const indent = args[0] ?? named.get('indent')
    const separators = named.get('separators')
    const pair = separators && isList(separators) ? separators.value.map((item) => this.text(item)) : []
    const layout = {
      indent: indent && isNumber(indent) ? width(indent) : undefined,
      sortKeys: named.get('sort_keys')?.value === true,
      ensureAscii: named.get('ensure_ascii')?.value === true,
      itemSeparator: pair[0],
      keySeparator: pair[1],
    }
    return jinjaText(spacedJson(jsonOfJinja(operand, this.#spend), layout, this.#spend))
  }

  #join(
    operand: JinjaValue,
    args: readonly JinjaValue[],
    named: ReadonlyMap<string, JinjaValue>,
  ): JinjaValue {
    if (args.length > 1 || named.has('attribute')) {
      throw new TemplateFailure("join takes no attribute here; write map(attribute='…')|join.")
    }
    const separator = this.text(args[0] ?? named.get('d') ?? named.get('separator') ?? jinjaText(''))
    const texts = this.#itemsOf(operand).map((item) => {
      const text = this.text(item)
      this.#budget.work(text.length + separator.length)
      return text
    })
    return jinjaText(texts.join(separator))
  }

  #list(operand: JinjaValue): JinjaValue {
    return jinjaList([...this.#itemsOf(operand)])
  }

  #itemsOf(value: JinjaValue): readonly JinjaValue[] {
    if (isList(value)) return value.value
    if (isMapping(value)) return [...value.value.keys()].map(jinjaText)
    if (isMissing(value)) return []
    if (isText(value)) return this.characters(value.value)
    throw new TemplateFailure(`${this.text(value)} is no list.`)
  }

  #indent(
    operand: JinjaValue,
    args: readonly JinjaValue[],
    named: ReadonlyMap<string, JinjaValue>,
  ): JinjaValue {
    const by = args[0] ?? named.get('width')
    const margin = by === undefined ? '    ' : isNumber(by) ? ' '.repeat(width(by)) : this.text(by)
    const first = (args[1] ?? named.get('first'))?.value === true
    const blank = (args[2] ?? named.get('blank'))?.value === true
    const lines = this.text(operand).split('\n')
    this.#budget.work(lines.length * (ITEM_SIZE + margin.length))
    return jinjaText(
      lines
        .map((line, index) => ((index > 0 || first) && (line !== '' || blank) ? margin + line : line))
        .join('\n'),
    )
  }

  #replace(
    operand: JinjaValue,
    args: readonly JinjaValue[],
    named: ReadonlyMap<string, JinjaValue>,
  ): JinjaValue {
    const [old, replacement] = args
    if (!old || !replacement) throw new TemplateFailure('replace takes an old text and a new one.')
    const text = this.text(operand)
    const [from, to] = [this.text(old), this.text(replacement)]
    const pieces = this.#pieces(text, from)
    const count = args[2] ?? named.get('count')
    const limit =
      count && isNumber(count) && count.value >= 0
        ? Math.min(count.value, pieces.length - 1)
        : pieces.length - 1
    this.#budget.work(text.length + limit * to.length)
    return jinjaText([pieces.slice(0, limit + 1).join(to), ...pieces.slice(limit + 1)].join(from))
  }

  #split(
    operand: JinjaValue,
    args: readonly JinjaValue[],
    named: ReadonlyMap<string, JinjaValue>,
  ): JinjaValue {
    const text = this.text(operand)
    const by = args[0] ?? named.get('sep')
    const most = args[1] ?? named.get('maxsplit')
    const limit = most && isNumber(most) && most.value >= 0 ? most.value : Infinity
    if (by === undefined || by.value === null) return jinjaList(this.#words(text, limit).map(jinjaText))
    const separator = this.text(by)
    if (separator === '') throw new TemplateFailure('split needs a separator that is not empty.')
    const pieces = this.#pieces(text, separator)
    const rest = pieces.slice(limit)
    const kept = rest.length > 1 ? [...pieces.slice(0, limit), rest.join(separator)] : pieces
    return jinjaList(kept.map(jinjaText))
  }

  #pieces(text: string, separator: string): string[] {
    this.#budget.work((text.length / Math.max(separator.length, 1)) * 8)
    // Python puts the new text before and after every character
    if (separator === '') return ['', ...text, '']
    const pieces = text.split(separator)
    this.#budget.work(pieces.length * ITEM_SIZE)
    return pieces
  }

  #words(text: string, limit: number): string[] {
    this.#budget.work(text.length * 8)
    const words = text.match(/\S+/g) ?? []
    this.#budget.work(words.length * ITEM_SIZE)
    if (words.length <= limit) return words
    const rest = new RegExp(`^\\s*(?:\\S+\\s+){${limit}}`).exec(text)?.[0].length ?? 0
    return [...words.slice(0, limit), text.slice(rest).trimEnd()]
  }
}

function width(value: { readonly value: number }): number {
  if (value.value >= 0 && value.value <= WIDEST_INDENT) return Math.floor(value.value)
  throw new TemplateFailure(`${value.value} is no indentation; write 0 to ${WIDEST_INDENT}.`)
}

import { JinjaFilters } from './jinja-filters.ts'
import { JinjaOperators } from './jinja-operators.ts'
import { type JinjaNode, type JinjaScope, type JinjaValue, jinja } from './jinja-library.ts'
import {
  ITEM_SIZE,
  isList,
  isMapping,
  isMissing,
  isText,
  jinjaList,
  missing,
  jinjaText,
} from './jinja-values.ts'
import type { RenderBudget } from '../render-budget.ts'
import { TemplateFailure } from '../template-format.ts'

/** The library makes a scope and the variable `loop` for each turn. */
const TURN_STEPS = 3

/** What is put where a node was, once its value is known. */
class Held implements JinjaNode {
  readonly [member: string]: unknown
  readonly type = 'Held'
  readonly value: JinjaValue

  constructor(value: JinjaValue) {
    this.value = value
  }
}

/**
 * The library's interpreter, at a price: each step and each value that is made counts, and whatever could make much of little
 * (`range`, `replace`, `join`, `tojson`, …) counts before it does. It also does as Jinja2 does where the library goes its own way:
 * what is shown, what is equal, attributes of what is missing.
 */
export class JinjaInterpreter extends jinja.Interpreter {
  readonly #unmasked: (name: string) => string | undefined
  readonly #budget: RenderBudget
  readonly #filters: JinjaFilters
  readonly #operators: JinjaOperators
  /** Nodes whose value is put into the text. */
  readonly #shown = new Set<JinjaNode>()

  /** `unmasked` knows the text of variables that stand for what the library could not read. */
  constructor(environment: JinjaScope, unmasked: (name: string) => string | undefined, budget: RenderBudget) {
    super(environment)
    this.#unmasked = unmasked
    this.#budget = budget
    this.#filters = new JinjaFilters(budget)
    this.#operators = new JinjaOperators(this.#filters, budget)
  }

  /** The text of a template as the library has read it. */
  render(program: JinjaNode): string {
    this.#note([program])
    const rendered = this.evaluate(program, this.global)
    const text = isText(rendered) ? rendered.value : ''
    this.#budget.output(text.length)
    return text
  }

  override evaluate(statement: JinjaNode | undefined, environment: JinjaScope): JinjaValue {
    if (statement === undefined) return missing()
    if (statement instanceof Held) return statement.value
    this.#budget.step()
    const value = this.#valueOf(statement, environment)
    return this.#shown.has(statement) ? jinjaText(this.#filters.text(value)) : value
  }

  #note(nodes: readonly JinjaNode[]): void {
    for (const node of nodes) {
      for (const block of ['body', 'alternate', 'defaultBlock']) {
        const inner = nodesOf(node[block])
        for (const child of inner) if (!STATEMENTS.has(child.type)) this.#shown.add(child)
        this.#note(inner)
      }
    }
  }

  #valueOf(node: JinjaNode, environment: JinjaScope): JinjaValue {
    switch (node.type) {
      case 'Identifier': {
        const text = this.#unmasked(String(node['value']))
        return text === undefined ? super.evaluate(node, environment) : jinjaText(text)
      }
      case 'BinaryExpression':
        return this.#binary(node, environment)
      case 'MemberExpression':
        return this.#paid(this.#member(node, environment))
      case 'FilterExpression':
        return this.#filtered(this.#evaluated(node, 'operand', environment), node, environment)
      case 'FilterStatement':
        return this.#filtered(this.#block(node, environment), node, environment)
      case 'CallExpression':
        return this.#paid(this.#call(node, environment))
      case 'For':
        return this.#loop(node, environment)
      default:
        return super.evaluate(node, environment)
    }
  }

  #evaluated(node: JinjaNode, member: string, environment: JinjaScope): JinjaValue {
    return this.evaluate(node[member] as JinjaNode | undefined, environment)
  }

  #block(node: JinjaNode, environment: JinjaScope): JinjaValue {
    const program: JinjaNode = { type: 'Program', body: node['body'] }
    return super.evaluate(program, environment)
  }

  #paid(value: JinjaValue): JinjaValue {
    if (isText(value)) this.#budget.work(value.value.length)
    if (isList(value)) this.#budget.work(value.value.length * ITEM_SIZE)
    return value
  }

  #binary(node: JinjaNode, environment: JinjaScope): JinjaValue {
    // the library's token of the operator
    const operator = (node['operator'] as { readonly value: string }).value
    if (operator === 'and' || operator === 'or') return super.evaluate(node, environment)
    const left = this.#evaluated(node, 'left', environment)
    const right = this.#evaluated(node, 'right', environment)
    const made = this.#operators.apply(operator, left, right)
    if (made) return made
    return this.#paid(super.evaluate({ ...node, left: new Held(left), right: new Held(right) }, environment))
  }

  #member(node: JinjaNode, environment: JinjaScope): JinjaValue {
    const object = this.#evaluated(node, 'object', environment)
    if (isMissing(object))
      throw new TemplateFailure(`'${pathOf(node['object'])}' is missing, so it has no attributes.`)
    return super.evaluate({ ...node, object: new Held(object) }, environment)
  }

  #filtered(operand: JinjaValue, node: JinjaNode, environment: JinjaScope): JinjaValue {
    // a name, or a call of one
    const filter = node['filter'] as JinjaNode
    const called = filter.type === 'CallExpression'
    const name = nameOf(called ? filter['callee'] : filter)
    const own = this.#filters.find(name)
    if (own) {
      const [args, named] = called
        ? this.#arguments(filter, environment)
        : [[], new Map<string, JinjaValue>()]
      return this.#paid(own(operand, args, named))
    }
    // Jinja2 takes what is missing for an empty text
    const isDefault = name === 'default' || name === 'd'
    const held = new Held(isMissing(operand) && !isDefault ? jinjaText('') : operand)
    const expression: JinjaNode = {
      type: 'FilterExpression',
      operand: held,
      filter: renamed(filter, ALIASES.get(name)),
    }
    // some filters of the library return nothing at all: the first of no items
    const filtered = super.evaluate(expression, environment) as JinjaValue | undefined
    return this.#paid(filtered ?? missing())
  }

  #call(node: JinjaNode, environment: JinjaScope): JinjaValue {
    const callee = node['callee'] as JinjaNode
    if (callee.type !== 'MemberExpression' || callee['computed'] === true)
      return super.evaluate(node, environment)
    const object = this.#evaluated(callee, 'object', environment)
    const method = isText(object) ? this.#filters.findMethod(nameOf(callee['property'])) : undefined
    if (method) return method(object, ...this.#arguments(node, environment))
    return super.evaluate({ ...node, callee: { ...callee, object: new Held(object) } }, environment)
  }

  /** Those of a call, by position and by name. */
  #arguments(call: JinjaNode, environment: JinjaScope): [JinjaValue[], Map<string, JinjaValue>] {
    const positional: JinjaValue[] = []
    const named = new Map<string, JinjaValue>()
    for (const argument of nodesOf(call['args'])) {
      if (argument.type === 'SpreadExpression' || argument.type === 'KeywordSpreadExpression') {
        throw new TemplateFailure('* and ** are not taken here; write the arguments out.')
      } else if (argument.type === 'KeywordArgumentExpression') {
        named.set(nameOf(argument['key']), this.#evaluated(argument, 'value', environment))
      } else {
        positional.push(this.evaluate(argument, environment))
      }
    }
    return [positional, named]
  }

  #loop(node: JinjaNode, environment: JinjaScope): JinjaValue {
    const iterable = node['iterable'] as JinjaNode
    const selected = iterable.type === 'SelectExpression'
    const found = selected
      ? this.#evaluated(iterable, 'lhs', environment)
      : this.evaluate(iterable, environment)
    const items = isMissing(found)
      ? jinjaList([])
      : isText(found)
        ? jinjaList(this.#filters.characters(found.value))
        : found
    this.#budget.step(
      TURN_STEPS * (isList(items) ? items.value.length : isMapping(items) ? items.value.size : 0),
    )
    const held = new Held(items)
    return super.evaluate({ ...node, iterable: selected ? { ...iterable, lhs: held } : held }, environment)
  }
}

/** Other names of filters, which the library does not know. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['d', 'default'],
  ['count', 'length'],
])

function renamed(filter: JinjaNode, name: string | undefined): JinjaNode {
  if (name === undefined) return filter
  const identifier: JinjaNode = { type: 'Identifier', value: name }
  return filter.type === 'CallExpression' ? { ...filter, callee: identifier } : identifier
}

/** Nodes that are no expressions; whatever their value is, it is text already, or none. */
const STATEMENTS: ReadonlySet<string> = new Set([
  'Program',
  'If',
  'For',
  'Set',
  'Macro',
  'CallStatement',
  'FilterStatement',
  'Break',
  'Continue',
  'Comment',
])

/** A list of nodes, which a member of a node may be. */
function nodesOf(member: unknown): readonly JinjaNode[] {
  return Array.isArray(member) ? (member as readonly JinjaNode[]) : []
}

/** The name that an identifier has; no filter, method or argument is called as anything else is. */
function nameOf(node: unknown): string {
  const { type, value } = node as JinjaNode
  return type === 'Identifier' ? String(value) : ''
}

/** An expression for messages: `a.b`. */
function pathOf(node: unknown): string {
  const { type, object, property, computed } = node as JinjaNode
  return type === 'MemberExpression' && computed !== true
    ? `${pathOf(object)}.${nameOf(property)}`
    : nameOf(node) || '…'
}

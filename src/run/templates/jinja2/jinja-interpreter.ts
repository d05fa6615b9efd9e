import { type JsonObject, getKey } from '../../../base/json.ts'
import type { RenderBudget } from '../render-budget.ts'
import { resolvePath } from '../resolve-path.ts'
import { TemplateFailure, variablesThere } from '../template-format.ts'
import { valueText } from '../value-text.ts'
import type { JinjaRuntime } from './jinja-filter.ts'
import { jinjaFilter } from './jinja-filters.ts'
import { jinjaFunctions } from './jinja-functions.ts'
import { attributeOf, itemOf, methodOf, sliceOf } from './jinja-members.ts'
import { JinjaOperators, refuseMissing } from './jinja-operators.ts'
import type { Arguments, Expression, FilterCall, Parameter, Statement, Target } from './jinja-nodes.ts'
import { jinjaTest } from './jinja-tests.ts'
import {
  Bag,
  bounded,
  Callable,
  type CallArguments,
  isDict,
  isText,
  isTrue,
  type JinjaKey,
  type JinjaValue,
  keyOf,
  kindOf,
  Missing,
  jinjaNumber,
  orElse,
  jinjaText,
  Tuple,
  valueOfJson,
} from './jinja-values.ts'

const STEPS_PER_ITERATION = 3

/** Filters and tests whose cost does not depend on the length of a text. */
const OF_NO_LENGTH: ReadonlySet<string> = new Set([
  ...['default', 'd', 'safe', 'string'],
  ...['defined', 'undefined', 'none', 'true', 'false', 'boolean', 'number', 'integer', 'float', 'mapping'],
  ...['sequence', 'iterable', 'callable', 'escaped', 'sameas', 'filter', 'test'],
])

/** The names of a scope and its outer scopes. */
class Scope {
  readonly values = new Map<string, JinjaValue>()
  readonly #outer: Scope | undefined

  constructor(outer?: Scope) {
    this.#outer = outer
  }

  find(name: string): JinjaValue | undefined {
    for (let scope: Scope | undefined = this; scope; scope = scope.#outer) {
      const value = scope.values.get(name)
      if (value !== undefined) return value
    }
    return undefined
  }
}

/** How a body ended: normally, or by a break or continue tag. */
type Ending = 'continue' | 'break' | undefined

/**
 * Renders the statements of a template. Each step and each value counts against the budget; operations that
 * could grow a value count before they run. Templates can reach only the variables.
 */
export class JinjaInterpreter implements JinjaRuntime {
  readonly operators: JinjaOperators
  readonly #variables: JsonObject
  readonly #budget: RenderBudget
  readonly #top = new Scope()
  readonly #functions: ReadonlyMap<string, Callable>
  /** The output of the current block so far. */
  #written = ''

  constructor(variables: JsonObject, budget: RenderBudget) {
    this.#variables = variables
    this.#budget = budget
    this.operators = new JinjaOperators(budget)
    this.#functions = jinjaFunctions(this.operators)
  }

  render(statements: readonly Statement[]): string {
    this.#run(statements, this.#top)
    this.#budget.output(this.#written.length)
    return this.#written
  }

  filter(name: string, value: JinjaValue, args: CallArguments): JinjaValue {
    this.#payFor(name, value)
    return jinjaFilter(name)(value, args, this)
  }

  test(name: string, value: JinjaValue, args: CallArguments): boolean {
    this.#payFor(name, value)
    return jinjaTest(name)(value, args, this)
  }

  /** Most filters and some tests scan a whole text, and a loop may repeat them. */
  #payFor(name: string, value: JinjaValue): void {
    if (isText(value) && !OF_NO_LENGTH.has(name)) this.operators.spend(jinjaText(value).length)
  }

  #run(statements: readonly Statement[], scope: Scope): Ending {
    for (const statement of statements) {
      this.#budget.step()
      const ending = this.#statement(statement, scope)
      if (ending) return ending
    }
    return undefined
  }

  #statement(statement: Statement, scope: Scope): Ending {
    switch (statement.kind) {
      case 'text':
        this.#write(statement.text)
        return undefined
      case 'print':
        this.#write(this.operators.text(this.#value(statement.value, scope)))
        return undefined
      case 'if':
        return this.#if(statement, scope)
      case 'for':
        this.#loop(statement, this.#value(statement.items, scope), scope, 0)
        return undefined
      case 'set':
        this.#assign(statement.target, this.#value(statement.value, scope), scope)
        return undefined
      case 'set block': {
        const text = this.#captured(statement.body, new Scope(scope))
        this.#assign(statement.target, this.#filtered(text, statement.filters, scope), scope)
        return undefined
      }
      case 'with':
        return this.#with(statement, scope)
      case 'macro':
        scope.values.set(statement.name, this.#macro(statement.name, statement, scope))
        return undefined
      case 'call': {
        const caller = this.#macro('caller', statement, scope)
        this.#write(this.operators.text(this.#call(statement.call, scope, caller)))
        return undefined
      }
      case 'filter': {
        const text = this.#captured(statement.body, new Scope(scope))
        this.#write(this.operators.text(this.#filtered(text, statement.filters, scope)))
        return undefined
      }
      case 'block':
        return this.#run(statement.body, new Scope(statement.isScoped ? scope : this.#top))
      default:
        return statement.kind
    }
  }

  #write(text: string): void {
    this.#budget.work(text.length)
    this.#written += text
  }

  /** Runs a body and returns its output instead of writing it. */
  #captured(body: readonly Statement[], scope: Scope): string {
    const before = this.#written
    this.#written = ''
    try {
      this.#run(body, scope)
      return this.#written
    } finally {
      this.#written = before
    }
  }

  #if({ branches, otherwise }: Statement & { kind: 'if' }, scope: Scope): Ending {
    const chosen = branches.find(([test]) => isTrue(this.#value(test, scope)))
    return this.#run(chosen ? chosen[1] : otherwise, scope)
  }

  #with({ values, body }: Statement & { kind: 'with' }, scope: Scope): Ending {
    const inner = new Scope(scope)
    // the values are evaluated before any of the names is set
    const given = values.map(([target, value]) => [target, this.#value(value, scope)] as const)
    for (const [target, value] of given) this.#assign(target, value, inner)
    return this.#run(body, inner)
  }

  #loop(statement: Statement & { kind: 'for' }, iterable: JinjaValue, scope: Scope, depth: number): void {
    const { target, test, isRecursive, body, otherwise } = statement
    const all = this.operators.items(iterable)
    this.#budget.step(STEPS_PER_ITERATION * all.length)
    const items = test ? all.filter((item) => this.#passes(target, item, test, scope)) : all
    const recurse = ({ positional: [next = [] as JinjaValue] }: CallArguments): JinjaValue => {
      if (!isRecursive) throw new TemplateFailure('Only a loop that says recursive can be called.')
      const before = this.#written
      this.#written = ''
      try {
        this.#loop(statement, next, scope, depth + 1)
        return this.#written
      } finally {
        this.#written = before
      }
    }
    let changed: readonly JinjaValue[] | undefined
    const isChanged = ({ positional }: CallArguments): JinjaValue => {
      const isSame = changed !== undefined && this.operators.equal([...changed], [...positional])
      changed = positional
      return !isSame
    }
    for (const [at, item] of items.entries()) {
      const turn = new Scope(scope)
      turn.values.set('loop', loopAt(at, items, depth, recurse, isChanged))
      this.#assign(target, item, turn)
      if (this.#run(body, turn) === 'break') break
    }
    if (items.length === 0) this.#run(otherwise, new Scope(scope))
  }

  #passes(target: Target, item: JinjaValue, test: Expression, scope: Scope): boolean {
    const turn = new Scope(scope)
    this.#assign(target, item, turn)
    return isTrue(this.#value(test, turn))
  }

  #assign(target: Target, value: JinjaValue, scope: Scope): void {
    if (target.kind === 'name') {
      scope.values.set(target.name, value)
    } else if (target.kind === 'member') {
      const object = scope.find(target.object)
      if (!(object instanceof Bag) || object.kind !== 'namespace')
        throw new TemplateFailure(`Only attributes of a namespace can be set, and ${target.object} is none.`)
      object.attributes.set(target.name, value)
    } else {
      const items = this.operators.items(value)
      if (items.length !== target.targets.length)
        throw new TemplateFailure(`${items.length} values cannot be given to ${target.targets.length} names.`)
      for (const [at, inner] of target.targets.entries()) this.#assign(inner, items[at] ?? null, scope)
    }
  }

  #macro(
    name: string,
    { parameters, body }: { readonly parameters: readonly Parameter[]; readonly body: readonly Statement[] },
    scope: Scope,
  ): Callable {
    return new Callable(name, ({ positional, named }) => {
      const inner = new Scope(scope)
      const known = new Set(parameters.map(([parameter]) => parameter))
      for (const [at, [parameter, usual]] of parameters.entries()) {
        const value = orElse(positional[at], named.get(parameter))
        if (value !== undefined) inner.values.set(parameter, value)
        else inner.values.set(parameter, usual ? this.#value(usual, inner) : new Missing(parameter))
      }
      const more = [...named].filter(([key]) => !known.has(key))
      const caller = more.find(([key]) => key === 'caller')?.[1]
      inner.values.set('varargs', new Tuple(positional.slice(parameters.length)))
      inner.values.set('kwargs', new Map<JinjaKey, JinjaValue>(more.filter(([key]) => key !== 'caller')))
      inner.values.set('caller', caller ?? new Missing('caller'))
      return this.#captured(body, inner)
    })
  }

  #filtered(value: JinjaValue, filters: readonly FilterCall[], scope: Scope): JinjaValue {
    return filters.reduce<JinjaValue>((at, filter) => this.#filter(filter, at, scope), value)
  }

  #filter({ name, args }: FilterCall, value: JinjaValue, scope: Scope): JinjaValue {
    return this.filter(name, value, this.#arguments(args, scope))
  }

  #value(node: Expression, scope: Scope): JinjaValue {
    this.#budget.step()
    switch (node.kind) {
      case 'constant':
        return node.value
      case 'name':
        return this.#named(node.name, scope)
      case 'path':
        return this.#selected(node.path)
      case 'list':
        return node.items.map((item) => this.#value(item, scope))
      case 'tuple':
        return new Tuple(node.items.map((item) => this.#value(item, scope)))
      case 'dict':
        return new Map(
          node.pairs.map(
            ([key, value]) => [keyOf(this.#value(key, scope)), this.#value(value, scope)] as const,
          ),
        )
      case 'attribute':
        return attributeOf(this.#object(node.object, scope), node.name, pathOf(node), this.operators)
      case 'item':
        return itemOf(
          this.#object(node.object, scope),
          this.#value(node.key, scope),
          pathOf(node),
          this.operators,
        )
      case 'slice':
        return sliceOf(
          this.#object(node.object, scope),
          node.limits.map((limit) => (limit ? this.#value(limit, scope) : null)),
          this.operators,
        )
      case 'call':
        return this.#call(node, scope)
      case 'filter':
        return this.#filter(node.filter, this.#value(node.operand, scope), scope)
      case 'test':
        return this.test(node.name, this.#value(node.operand, scope), this.#arguments(node.args, scope))
      case 'not':
        return !isTrue(this.#value(node.operand, scope))
      case 'sign':
        return signed(node.sign, this.#value(node.operand, scope))
      case 'binary':
        return this.operators.binary(
          node.operator,
          this.#value(node.left, scope),
          this.#value(node.right, scope),
        )
      case 'and':
      case 'or': {
        const left = this.#value(node.left, scope)
        return isTrue(left) === (node.kind === 'or') ? left : this.#value(node.right, scope)
      }
      case 'join':
        return this.operators.joined(node.parts.map((part) => this.#value(part, scope)))
      case 'compare':
        return this.#compared(node, scope)
      case 'condition':
        if (isTrue(this.#value(node.test, scope))) return this.#value(node.then, scope)
        return node.otherwise ? this.#value(node.otherwise, scope) : new Missing('what stands behind else')
    }
  }

  #named(name: string, scope: Scope): JinjaValue {
    const value = scope.find(name)
    if (value !== undefined) return value
    const json = getKey(this.#variables, name)
    if (json === undefined) return this.#functions.get(name) ?? new Missing(name)
    return valueOfJson(json)
  }

  #selected(path: string): string {
    const value = resolvePath(path, this.#variables)
    if (value === undefined) throw new TemplateFailure(`The JSONPath {{${path}}} finds nothing.`)
    return valueText(value)
  }

  /** Evaluates the object of an attribute or item; refuses a missing one. */
  #object(node: Expression, scope: Scope): JinjaValue {
    const object = this.#value(node, scope)
    if (!(object instanceof Missing)) return object
    const there = node.kind === 'name' ? ` ${variablesThere(this.#variables)}` : ''
    throw new TemplateFailure(`'${pathOf(node)}' is missing, so it has no attributes.${there}`)
  }

  #compared({ first, rest }: Expression & { kind: 'compare' }, scope: Scope): boolean {
    let left = this.#value(first, scope)
    for (const { operator, value } of rest) {
      const right = this.#value(value, scope)
      if (!this.operators.compares(operator, left, right)) return false
      left = right
    }
    return true
  }

  #call({ callee, args }: Expression & { kind: 'call' }, scope: Scope, caller?: Callable): JinjaValue {
    const called = this.#called(callee, scope)
    const given = this.#arguments(args, scope)
    const all = caller ? { ...given, named: new Map([...given.named, ['caller', caller] as const]) } : given
    if (called instanceof Callable) return called.call(all)
    if (called instanceof Bag && called.call) return called.call(all)
    refuseMissing(called)
    throw new TemplateFailure(`'${pathOf(callee)}' is ${kindOf(called)} and cannot be called.`)
  }

  /** Resolves a callee. A dictionary's key does not hide a method. */
  #called(callee: Expression, scope: Scope): JinjaValue {
    if (callee.kind !== 'attribute') return this.#value(callee, scope)
    const object = this.#object(callee.object, scope)
    const method = methodOf(object, callee.name, this.operators)
    return method ?? attributeOf(object, callee.name, pathOf(callee), this.operators)
  }

  #arguments({ positional, named, spread, namedSpread }: Arguments, scope: Scope): CallArguments {
    const first = positional.map((value) => this.#value(value, scope))
    const names = new Map(named.map(([name, value]) => [name, this.#value(value, scope)] as const))
    if (!spread && !namedSpread) return { positional: first, named: names }
    const more = spread ? this.operators.items(this.#value(spread, scope)) : []
    const others = namedSpread ? this.#value(namedSpread, scope) : new Map()
    if (!isDict(others)) throw new TemplateFailure(`** takes a dictionary, and not ${kindOf(others)}.`)
    for (const [name, value] of others) names.set(String(name), value)
    return { positional: [...first, ...more], named: names }
  }
}

function signed(sign: '-' | '+', value: JinjaValue): JinjaValue {
  refuseMissing(value)
  const number = jinjaNumber(value)
  if (number === undefined) throw new TemplateFailure(`${sign} takes a number, and not ${kindOf(value)}.`)
  if (sign === '+') return number
  return typeof number === 'bigint' ? bounded(-number) : -number
}

/** The variable `loop` in one iteration. */
function loopAt(
  at: number,
  items: readonly JinjaValue[],
  depth: number,
  recurse: Callable['call'],
  isChanged: Callable['call'],
): Bag {
  const cycle = ({ positional }: CallArguments): JinjaValue => {
    const value = positional[at % positional.length]
    if (value === undefined) throw new TemplateFailure('loop.cycle takes the values to go round.')
    return value
  }
  const attributes: readonly (readonly [string, JinjaValue])[] = [
    ['index', BigInt(at + 1)],
    ['index0', BigInt(at)],
    ['revindex', BigInt(items.length - at)],
    ['revindex0', BigInt(items.length - at - 1)],
    ['first', at === 0],
    ['last', at === items.length - 1],
    ['length', BigInt(items.length)],
    ['depth', BigInt(depth + 1)],
    ['depth0', BigInt(depth)],
    ['previtem', orElse(items[at - 1], new Missing('loop.previtem'))],
    ['nextitem', orElse(items[at + 1], new Missing('loop.nextitem'))],
    ['cycle', new Callable('loop.cycle', cycle)],
    ['changed', new Callable('loop.changed', isChanged)],
  ]
  return new Bag('loop', new Map(attributes), recurse)
}

/** An expression in a message: `a.b`. */
function pathOf(node: Expression): string {
  if (node.kind === 'name') return node.name
  if (node.kind === 'attribute') return `${pathOf(node.object)}.${node.name}`
  if (node.kind !== 'item') return '…'
  const key =
    node.key.kind === 'constant'
      ? JSON.stringify(node.key.value, (_, it) => (typeof it === 'bigint' ? Number(it) : it))
      : '…'
  return `${pathOf(node.object)}[${key}]`
}

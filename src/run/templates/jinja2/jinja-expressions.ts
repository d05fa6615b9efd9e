import { TemplateFailure } from '../template-format.ts'
import { failureAt, type JinjaToken } from './jinja-lexer.ts'
import type { Arguments, Expression, FilterCall } from './jinja-nodes.ts'
import { wholeNumber } from './jinja-values.ts'

/**
 * Parses expressions from the tokens of a template, by the grammar of Jinja2 3.1. Throws a `TemplateFailure`
 * for anything else.
 */
export class ExpressionParser {
  protected readonly template: string
  protected readonly tokens: readonly JinjaToken[]
  protected next = 0

  constructor(template: string, tokens: readonly JinjaToken[]) {
    this.template = template
    this.tokens = tokens
  }

  protected get token(): JinjaToken | undefined {
    return this.tokens[this.next]
  }

  protected is(kind: JinjaToken['kind'], ...values: readonly string[]): boolean {
    const token = this.token
    return token?.kind === kind && (values.length === 0 || values.includes(token.value))
  }

  protected takes(kind: JinjaToken['kind'], ...values: readonly string[]): JinjaToken | undefined {
    if (!this.is(kind, ...values)) return undefined
    return this.tokens[this.next++]
  }

  protected needs(kind: JinjaToken['kind'], ...values: readonly string[]): JinjaToken {
    const token = this.takes(kind, ...values)
    if (token) return token
    throw this.unexpected(values.length > 0 ? values.join(' or ') : `a ${kind}`)
  }

  protected unexpected(expected?: string): TemplateFailure {
    const token = this.token
    const wanted = expected === undefined ? '' : `, where ${expected} is expected`
    if (!token) return new TemplateFailure(`The jinja2 template ends too soon${wanted}.`)
    return failureAt(
      this.template,
      token.at,
      `${JSON.stringify(token.value.slice(0, 80))} is unexpected${wanted}.`,
    )
  }

  /** One expression, or several separated by commas, which are a tuple. */
  protected tuple(mayBeCondition: boolean, isInParentheses = false): Expression {
    const items: Expression[] = []
    let isTuple = false
    while (!this.#endsTuple()) {
      items.push(mayBeCondition ? this.expression() : this.or())
      if (!this.takes('operator', ',')) break
      isTuple = true
    }
    const [first] = items
    if (first && !isTuple) return first
    if (!first && !isInParentheses) throw this.unexpected('an expression')
    return { kind: 'tuple', items }
  }

  #endsTuple(): boolean {
    return (
      !this.token ||
      this.is('end print') ||
      this.is('end tag') ||
      this.is('operator', ')') ||
      this.is('name', 'recursive')
    )
  }

  protected expression(): Expression {
    let value = this.or()
    while (this.takes('name', 'if')) {
      const test = this.or()
      const otherwise = this.takes('name', 'else') ? this.expression() : undefined
      value = { kind: 'condition', test, then: value, otherwise }
    }
    return value
  }

  protected or(): Expression {
    let left = this.#and()
    while (this.takes('name', 'or')) left = { kind: 'or', left, right: this.#and() }
    return left
  }

  #and(): Expression {
    let left = this.#not()
    while (this.takes('name', 'and')) left = { kind: 'and', left, right: this.#not() }
    return left
  }

  #not(): Expression {
    return this.takes('name', 'not') ? { kind: 'not', operand: this.#not() } : this.#comparison()
  }

  #comparison(): Expression {
    const first = this.#sum()
    const rest: { operator: string; value: Expression }[] = []
    for (;;) {
      const operator = this.takes('operator', '==', '!=', '<', '<=', '>', '>=')?.value ?? this.#membership()
      if (operator === undefined) break
      rest.push({ operator, value: this.#sum() })
    }
    return rest.length === 0 ? first : { kind: 'compare', first, rest }
  }

  #membership(): string | undefined {
    if (this.takes('name', 'in')) return 'in'
    const after = this.tokens[this.next + 1]
    if (!this.is('name', 'not') || after?.kind !== 'name' || after.value !== 'in') return undefined
    this.next += 2
    return 'not in'
  }

  #sum(): Expression {
    let left = this.#joined()
    for (
      let operator = this.takes('operator', '+', '-');
      operator;
      operator = this.takes('operator', '+', '-')
    ) {
      left = { kind: 'binary', operator: operator.value, left, right: this.#joined() }
    }
    return left
  }

  #joined(): Expression {
    const first = this.#product()
    if (!this.is('operator', '~')) return first
    const parts = [first]
    while (this.takes('operator', '~')) parts.push(this.#product())
    return { kind: 'join', parts }
  }

  #product(): Expression {
    let left = this.#power()
    for (;;) {
      const operator = this.takes('operator', '*', '/', '//', '%')
      if (!operator) return left
      left = { kind: 'binary', operator: operator.value, left, right: this.#power() }
    }
  }

  #power(): Expression {
    let left = this.#unary()
    while (this.takes('operator', '**')) left = { kind: 'binary', operator: '**', left, right: this.#unary() }
    return left
  }

  #unary(hasFilters = true): Expression {
    const sign = this.takes('operator', '-', '+')
    const operand: Expression = sign
      ? { kind: 'sign', sign: sign.value === '-' ? '-' : '+', operand: this.#unary(false) }
      : this.#postfix(this.#primary())
    return hasFilters ? this.#filtered(operand) : operand
  }

  #primary(): Expression {
    const token = this.token
    if (!token) throw this.unexpected('an expression')
    this.next++
    switch (token.kind) {
      case 'name': {
        const constant = CONSTANTS.get(token.value)
        return constant === undefined
          ? { kind: 'name', name: token.value }
          : { kind: 'constant', value: constant }
      }
      case 'string': {
        let { value } = token
        for (let more = this.takes('string'); more; more = this.takes('string')) value += more.value
        return { kind: 'constant', value }
      }
      case 'integer':
        return { kind: 'constant', value: wholeNumber(token.value) }
      case 'float':
        return { kind: 'constant', value: Number(token.value) }
      case 'operator':
        if (token.value === '(') {
          const inner = this.tuple(true, true)
          this.needs('operator', ')')
          return inner
        }
        if (token.value === '[') return { kind: 'list', items: this.#listed(']', () => this.expression()) }
        if (token.value === '{') return { kind: 'dict', pairs: this.#listed('}', () => this.#pair()) }
        break
      default:
    }
    this.next--
    throw this.unexpected('an expression')
  }

  #listed<Item>(end: string, item: () => Item): readonly Item[] {
    const items: Item[] = []
    while (!this.takes('operator', end)) {
      if (items.length > 0) this.needs('operator', ',')
      // a trailing comma is allowed
      if (this.takes('operator', end)) break
      items.push(item())
    }
    return items
  }

  #pair(): readonly [Expression, Expression] {
    const key = this.expression()
    this.needs('operator', ':')
    return [key, this.expression()]
  }

  #postfix(first: Expression): Expression {
    let value = first
    for (;;) {
      if (this.takes('operator', '.')) value = this.#member(value)
      else if (this.takes('operator', '[')) value = this.#subscript(value)
      else if (this.is('operator', '(')) value = { kind: 'call', callee: value, args: this.#arguments() }
      else return value
    }
  }

  #member(object: Expression): Expression {
    const position = this.takes('integer')
    if (position) return { kind: 'item', object, key: { kind: 'constant', value: BigInt(position.value) } }
    return { kind: 'attribute', object, name: this.needs('name').value }
  }

  #subscript(object: Expression): Expression {
    const limits: (Expression | undefined)[] = []
    let isSlice = false
    for (;;) {
      limits.push(this.is('operator', ':', ']') ? undefined : this.#tupleInBrackets())
      if (!this.takes('operator', ':')) break
      isSlice = true
    }
    this.needs('operator', ']')
    const [key] = limits
    if (limits.length > 3 || (!isSlice && !key)) throw this.unexpected('a key or a slice before it')
    return isSlice || !key ? { kind: 'slice', object, limits } : { kind: 'item', object, key }
  }

  #tupleInBrackets(): Expression {
    const first = this.expression()
    if (!this.is('operator', ',')) return first
    const items = [first]
    while (this.takes('operator', ',') && !this.is('operator', ']')) items.push(this.expression())
    return { kind: 'tuple', items }
  }

  #arguments(): Arguments {
    this.needs('operator', '(')
    const positional: Expression[] = []
    const named: (readonly [string, Expression])[] = []
    let spread: Expression | undefined
    let namedSpread: Expression | undefined
    let isFirst = true
    while (!this.takes('operator', ')')) {
      if (!isFirst) this.needs('operator', ',')
      if (!isFirst && this.takes('operator', ')')) break
      isFirst = false
      const [name, equals] = [this.token, this.tokens[this.next + 1]]
      if (this.takes('operator', '*')) spread = this.expression()
      else if (this.takes('operator', '**')) namedSpread = this.expression()
      else if (name?.kind === 'name' && equals?.kind === 'operator' && equals.value === '=') {
        this.next += 2
        named.push([name.value, this.expression()])
      } else {
        if (named.length > 0 || spread || namedSpread) throw this.unexpected('an argument by name')
        positional.push(this.expression())
      }
    }
    return { positional, named, spread, namedSpread }
  }

  #filtered(first: Expression): Expression {
    let value = first
    for (;;) {
      if (this.takes('operator', '|')) value = { kind: 'filter', operand: value, filter: this.filter() }
      else if (this.takes('name', 'is')) value = this.#test(value)
      else if (this.is('operator', '(')) value = { kind: 'call', callee: value, args: this.#arguments() }
      else return value
    }
  }

  protected filters(first: readonly FilterCall[]): readonly FilterCall[] {
    const filters = [...first]
    while (this.takes('operator', '|')) filters.push(this.filter())
    return filters
  }

  protected filter(): FilterCall {
    const name = this.#dotted()
    return { name, args: this.is('operator', '(') ? this.#arguments() : NO_ARGUMENTS }
  }

  #test(operand: Expression): Expression {
    const isNegated = this.takes('name', 'not') !== undefined
    const name = this.#dotted()
    let args = NO_ARGUMENTS
    if (this.is('operator', '(')) args = this.#arguments()
    else if (this.#beginsArgument()) {
      if (this.is('name', 'is')) throw this.unexpected('no second test')
      args = { ...NO_ARGUMENTS, positional: [this.#postfix(this.#primary())] }
    }
    const test: Expression = { kind: 'test', operand, name, args }
    return isNegated ? { kind: 'not', operand: test } : test
  }

  #beginsArgument(): boolean {
    return (
      this.is('string') ||
      this.is('integer') ||
      this.is('float') ||
      this.is('operator', '[', '{') ||
      // "if" begins a condition here; Jinja2 does not treat it as an argument
      (this.is('name') && !this.is('name', 'else', 'or', 'and', 'if'))
    )
  }

  #dotted(): string {
    let name = this.needs('name').value
    while (this.takes('operator', '.')) name += `.${this.needs('name').value}`
    return name
  }
}

const NO_ARGUMENTS: Arguments = { positional: [], named: [], spread: undefined, namedSpread: undefined }

/** Names of constants, which cannot be assigned. */
export const CONSTANTS: ReadonlyMap<string, boolean | null> = new Map([
  ['true', true],
  ['True', true],
  ['false', false],
  ['False', false],
  ['none', null],
  ['None', null],
])

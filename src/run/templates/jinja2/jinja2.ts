import type { JsonObject } from '../../../base/json.ts'
import type { RenderBudget } from '../render-budget.ts'
import { TemplateFailure } from '../template-format.ts'
import { jinjaFilter } from './jinja-filters.ts'
import { JinjaInterpreter } from './jinja-interpreter.ts'
import type { Expression, FilterCall, Statement, Parameter, Target } from './jinja-nodes.ts'
import { jinjaTest } from './jinja-tests.ts'
import { CONSTANTS, ExpressionParser } from './jinja-expressions.ts'
import { failureAt, jinjaTokens } from './jinja-lexer.ts'

/**
 * Renders a template as Jinja2 3.1 does in Python, without autoescaping and without extensions except `break`
 * and `continue`. A missing value renders as nothing; an attribute of a missing value is an error; values are
 * shown as Python shows them. `{{$…}}` is a JSONPath into all variables; it must match, and renders as JSON
 * text. Templates can reach only the variables. Unsupported tags, filters and tests are refused by name.
 */
export function renderJinja2(template: string, variables: JsonObject, budget: RenderBudget): string {
  return new JinjaInterpreter(variables, budget).render(statementsOf(template))
}

/**
 * Throws a `TemplateFailure` for a template that does not parse, or that names an unknown filter or test
 * anywhere.
 */
export function readJinja2(template: string): void {
  const open: unknown[] = [...statementsOf(template)]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (typeof node !== 'object' || node === null) continue
    if (Array.isArray(node)) {
      for (const item of node) open.push(item)
      continue
    }
    const { kind, name, filter, filters } = node as Named
    if (kind === 'test' && typeof name === 'string') jinjaTest(name)
    for (const { name } of [...(filters ?? []), ...(filter ? [filter] : [])]) jinjaFilter(name)
    for (const member of Object.values(node)) open.push(member)
  }
}

/** The members of a node that name filters or tests. */
interface Named {
  readonly kind?: Expression['kind'] | Statement['kind']
  readonly name?: unknown
  readonly filter?: FilterCall
  readonly filters?: readonly FilterCall[]
}

function statementsOf(template: string): readonly Statement[] {
  if (template.includes('\0')) throw new TemplateFailure('A jinja2 template must not hold a NUL character.')
  return parseJinja(template)
}

/**
 * Parses a template by the grammar of Jinja2 3.1. Throws a `TemplateFailure` that names the line of a
 * problem.
 */
function parseJinja(template: string): readonly Statement[] {
  return new Parser(template, jinjaTokens(template)).statements()
}

/** Jinja2 tags that this service does not have, and why. */
const REFUSED: ReadonlyMap<string, string> = new Map([
  ...['include', 'import', 'from', 'extends'].map(
    (tag) => [tag, 'there are no other templates to take something from'] as const,
  ),
  ['autoescape', 'what is written is no HTML; escape with the filter e'],
  ['do', 'it is an extension; write {% set _ = … %}'],
  ['debug', 'it is an extension'],
  ['trans', 'it is an extension'],
])

class Parser extends ExpressionParser {
  /** The number of enclosing loops. */
  #loops = 0

  statements(): readonly Statement[] {
    const statements = this.#body([])
    if (this.token) throw this.unexpected()
    return statements
  }

  /**
   * Parses statements up to a tag with one of these names, which is not consumed; up to the end if there are
   * no names.
   */
  #body(ends: readonly string[]): readonly Statement[] {
    const body: Statement[] = []
    for (;;) {
      const text = this.takes('text')
      if (text) {
        body.push({ kind: 'text', text: text.value })
      } else if (this.takes('begin print')) {
        const path = this.takes('path')
        const value: Expression = path ? { kind: 'path', path: path.value } : this.tuple(true)
        this.needs('end print')
        body.push({ kind: 'print', value })
      } else if (this.is('begin tag') && !ends.includes(this.tokens[this.next + 1]?.value ?? '')) {
        this.next++
        body.push(this.#statement())
      } else {
        if (ends.length > 0 && !this.token) throw this.unexpected(`{% ${ends.join(' %} or {% ')} %}`)
        return body
      }
    }
  }

  /** Parses a body and consumes its closing tag, whose name is returned. */
  #bodyTo(...ends: readonly string[]): { readonly body: readonly Statement[]; readonly end: string } {
    this.needs('end tag')
    const body = this.#body(ends)
    this.needs('begin tag')
    return { body, end: this.needs('name', ...ends).value }
  }

  #statement(): Statement {
    const { value: tag, at } = this.needs('name')
    const statement = this.#tagged(tag, at)
    this.needs('end tag')
    return statement
  }

  #tagged(tag: string, at: number): Statement {
    switch (tag) {
      case 'for':
        return this.#for()
      case 'if':
        return this.#if()
      case 'set':
        return this.#set()
      case 'with':
        return this.#with()
      case 'macro': {
        const { value: name } = this.needs('name')
        const parameters = this.#parameters()
        return { kind: 'macro', name, parameters, body: this.#outsideOfLoops('endmacro') }
      }
      case 'call': {
        const parameters = this.is('operator', '(') ? this.#parameters() : []
        const call = this.expression()
        if (call.kind !== 'call')
          throw failureAt(this.template, at, 'The tag call takes a call: {% call name() %}.')
        return { kind: 'call', call, parameters, body: this.#outsideOfLoops('endcall') }
      }
      case 'filter': {
        const filters = this.filters([this.filter()])
        return { kind: 'filter', filters, body: this.#bodyTo('endfilter').body }
      }
      case 'block':
        return this.#block()
      case 'break':
      case 'continue':
        if (this.#loops === 0) throw failureAt(this.template, at, `The tag ${tag} stands in no loop.`)
        return { kind: tag }
      default: {
        const why = REFUSED.get(tag)
        const sentence =
          why === undefined
            ? `There is no tag ${JSON.stringify(tag)} here.`
            : `The tag ${tag} is not taken here: ${why}.`
        throw failureAt(this.template, at, sentence)
      }
    }
  }

  #outsideOfLoops(end: string): readonly Statement[] {
    const loops = this.#loops
    this.#loops = 0
    const { body } = this.#bodyTo(end)
    this.#loops = loops
    return body
  }

  #for(): Statement {
    const target = this.#target()
    this.needs('name', 'in')
    const items = this.tuple(false)
    const test = this.takes('name', 'if') ? this.expression() : undefined
    const isRecursive = this.takes('name', 'recursive') !== undefined
    this.#loops++
    const { body, end } = this.#bodyTo('endfor', 'else')
    this.#loops--
    const otherwise = end === 'else' ? this.#bodyTo('endfor').body : []
    return { kind: 'for', target, items, test, isRecursive, body, otherwise }
  }

  #if(): Statement {
    const branches: (readonly [Expression, readonly Statement[]])[] = []
    for (;;) {
      const test = this.tuple(false)
      const { body, end } = this.#bodyTo('elif', 'else', 'endif')
      branches.push([test, body])
      if (end === 'elif') continue
      const otherwise = end === 'else' ? this.#bodyTo('endif').body : []
      return { kind: 'if', branches, otherwise }
    }
  }

  #set(): Statement {
    const target = this.#target(true)
    if (this.takes('operator', '=')) return { kind: 'set', target, value: this.tuple(true) }
    const filters = this.filters([])
    return { kind: 'set block', target, filters, body: this.#bodyTo('endset').body }
  }

  #with(): Statement {
    const values: (readonly [Target, Expression])[] = []
    while (!this.is('end tag')) {
      if (values.length > 0) this.needs('operator', ',')
      const target = this.#target()
      this.needs('operator', '=')
      values.push([target, this.expression()])
    }
    return { kind: 'with', values, body: this.#bodyTo('endwith').body }
  }

  #block(): Statement {
    const { value: name } = this.needs('name')
    const isScoped = this.takes('name', 'scoped') !== undefined
    this.takes('name', 'required')
    const loops = this.#loops
    this.#loops = 0
    const { body } = this.#bodyTo('endblock')
    this.#loops = loops
    if (this.is('name')) this.needs('name', name)
    return { kind: 'block', isScoped, body }
  }

  #target(mayBeMember = false): Target {
    const targets: Target[] = []
    let isTuple = false
    for (;;) {
      if (this.takes('operator', '(')) {
        targets.push(this.#target())
        this.needs('operator', ')')
      } else {
        const { value: name, at } = this.needs('name')
        if (CONSTANTS.has(name)) throw failureAt(this.template, at, `Nothing can be assigned to ${name}.`)
        const isMember = mayBeMember && this.takes('operator', '.')
        targets.push(
          isMember
            ? { kind: 'member', object: name, name: this.needs('name').value }
            : { kind: 'name', name },
        )
      }
      if (!this.takes('operator', ',')) break
      isTuple = true
      if (this.is('name', 'in') || this.is('operator', '=', ')')) break
    }
    const [first] = targets
    return first && !isTuple ? first : { kind: 'names', targets }
  }

  #parameters(): readonly Parameter[] {
    const parameters: Parameter[] = []
    this.needs('operator', '(')
    while (!this.is('operator', ')')) {
      if (parameters.length > 0) this.needs('operator', ',')
      const { value: name, at } = this.needs('name')
      const usual = this.takes('operator', '=') ? this.expression() : undefined
      if (!usual && parameters.at(-1)?.[1])
        throw failureAt(this.template, at, `The parameter ${name} needs a default, as the one before it has.`)
      parameters.push([name, usual])
    }
    this.needs('operator', ')')
    return parameters
  }
}

import * as library from '@huggingface/jinja'

/**
 * `@huggingface/jinja` with types: its own name their files in a way that ES modules do not resolve, so the compiler sees none of them.
 * Here is as much as is used, as the library's source (0.5) has it.
 */
export interface JinjaLibrary {
  readonly Environment: new (parent?: JinjaScope) => JinjaScope
  readonly Interpreter: new (environment: JinjaScope) => JinjaRunner
  tokenize(template: string): readonly unknown[]
  parse(tokens: readonly unknown[]): JinjaNode
}

/** The variables of a scope, and of those around it. */
export interface JinjaScope {
  /** A new variable, of a JavaScript value; answers what that is to the interpreter. */
  set(name: string, value: unknown): JinjaValue
  setVariable(name: string, value: JinjaValue): JinjaValue
}

/** What evaluates a template, node by node. */
export interface JinjaRunner {
  global: JinjaScope
  /** Every statement and expression is evaluated by this method, whatever it is part of. */
  evaluate(node: JinjaNode | undefined, scope: JinjaScope): JinjaValue
}

/** A node of a read template: its kind, and members by kind. */
export interface JinjaNode {
  readonly type: string
  readonly [member: string]: unknown
}

/** A value as the interpreter holds it, by its kind. */
export type JinjaValue =
  JinjaText | JinjaNumber | JinjaTruth | JinjaList | JinjaMapping | JinjaNull | JinjaMissing | JinjaFunction

/** A text. */
export interface JinjaText {
  readonly type: 'StringValue'
  readonly value: string
}

/** A whole number, or one with a point, which its text keeps. */
export interface JinjaNumber {
  readonly type: 'IntegerValue' | 'FloatValue'
  readonly value: number
  toString(): string
}

/** `true` or `false`. */
export interface JinjaTruth {
  readonly type: 'BooleanValue'
  readonly value: boolean
}

/** A list or tuple. */
export interface JinjaList {
  readonly type: 'ArrayValue' | 'TupleValue'
  readonly value: readonly JinjaValue[]
}

/** An object, arguments by name, or what `namespace()` makes. */
export interface JinjaMapping {
  readonly type: 'ObjectValue' | 'KeywordArgumentsValue' | 'NamespaceValue'
  readonly value: ReadonlyMap<string, JinjaValue>
}

/** `none`. */
export interface JinjaNull {
  readonly type: 'NullValue'
  readonly value: null
}

/** What a name that is not there gives. */
export interface JinjaMissing {
  readonly type: 'UndefinedValue'
  readonly value: undefined
}

/** What can be called: `range`, a macro. */
export interface JinjaFunction {
  readonly type: 'FunctionValue'
  readonly value: (args: readonly JinjaValue[], scope: JinjaScope) => JinjaValue
}

/** The library; the compiler knows nothing of its types. */
export const jinja = library as unknown as JinjaLibrary

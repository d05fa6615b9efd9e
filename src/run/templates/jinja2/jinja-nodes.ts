/** An expression node. */
export type Expression =
  | { readonly kind: 'constant'; readonly value: null | boolean | bigint | number | string }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'path'; readonly path: string }
  | { readonly kind: 'list' | 'tuple'; readonly items: readonly Expression[] }
  | { readonly kind: 'dict'; readonly pairs: readonly (readonly [Expression, Expression])[] }
  | { readonly kind: 'attribute'; readonly object: Expression; readonly name: string }
  | { readonly kind: 'item'; readonly object: Expression; readonly key: Expression }
  | {
      readonly kind: 'slice'
      readonly object: Expression
      readonly limits: readonly (Expression | undefined)[]
    }
  | { readonly kind: 'call'; readonly callee: Expression; readonly args: Arguments }
  | { readonly kind: 'filter'; readonly operand: Expression; readonly filter: FilterCall }
  | { readonly kind: 'test'; readonly operand: Expression; readonly name: string; readonly args: Arguments }
  | { readonly kind: 'not'; readonly operand: Expression }
  | { readonly kind: 'sign'; readonly sign: '-' | '+'; readonly operand: Expression }
  | {
      readonly kind: 'binary'
      readonly operator: string
      readonly left: Expression
      readonly right: Expression
    }
  | { readonly kind: 'and' | 'or'; readonly left: Expression; readonly right: Expression }
  | { readonly kind: 'join'; readonly parts: readonly Expression[] }
  | {
      readonly kind: 'compare'
      readonly first: Expression
      readonly rest: readonly { readonly operator: string; readonly value: Expression }[]
    }
  | {
      readonly kind: 'condition'
      readonly test: Expression
      readonly then: Expression
      readonly otherwise: Expression | undefined
    }

/** The arguments of a filter, test or call. */
export interface Arguments {
  readonly positional: readonly Expression[]
  readonly named: readonly (readonly [string, Expression])[]
  /** A list of further positional arguments, and a dictionary of further named ones. */
  readonly spread: Expression | undefined
  readonly namedSpread: Expression | undefined
}

export interface FilterCall {
  readonly name: string
  readonly args: Arguments
}

/** The target of an assignment. */
export type Target =
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'names'; readonly targets: readonly Target[] }
  | { readonly kind: 'member'; readonly object: string; readonly name: string }

/** A parameter of a macro, and its default. */
export type Parameter = readonly [name: string, usual: Expression | undefined]

/** A statement node. */
export type Statement =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'print'; readonly value: Expression }
  | {
      readonly kind: 'for'
      readonly target: Target
      readonly items: Expression
      readonly test: Expression | undefined
      readonly isRecursive: boolean
      readonly body: readonly Statement[]
      readonly otherwise: readonly Statement[]
    }
  | {
      readonly kind: 'if'
      readonly branches: readonly (readonly [Expression, readonly Statement[]])[]
      readonly otherwise: readonly Statement[]
    }
  | { readonly kind: 'set'; readonly target: Target; readonly value: Expression }
  | {
      readonly kind: 'set block'
      readonly target: Target
      readonly filters: readonly FilterCall[]
      readonly body: readonly Statement[]
    }
  | {
      readonly kind: 'with'
      readonly values: readonly (readonly [Target, Expression])[]
      readonly body: readonly Statement[]
    }
  | {
      readonly kind: 'macro'
      readonly name: string
      readonly parameters: readonly Parameter[]
      readonly body: readonly Statement[]
    }
  | {
      readonly kind: 'call'
      readonly call: Expression & { readonly kind: 'call' }
      readonly parameters: readonly Parameter[]
      readonly body: readonly Statement[]
    }
  | { readonly kind: 'filter'; readonly filters: readonly FilterCall[]; readonly body: readonly Statement[] }
  | { readonly kind: 'block'; readonly isScoped: boolean; readonly body: readonly Statement[] }
  | { readonly kind: 'break' | 'continue' }

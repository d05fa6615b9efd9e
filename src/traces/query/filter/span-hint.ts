/**
 * What is true of every span that a filter matches, and maybe of others: what an index or a look at the text can tell without reading the
 * record.
 */
export type SpanHint =
  | { readonly kind: 'all' | 'any'; readonly hints: readonly SpanHint[] }
  /** The record has this text. */
  | { readonly kind: 'text'; readonly text: string }
  /** A column is one of these values; with another sign, there is one value. */
  | {
      readonly kind: 'column'
      readonly column: string
      readonly sign: '=' | '<' | '<=' | '>' | '>='
      readonly values: readonly string[]
    }

/** True where every one of these is that says something. */
export function allOf(hints: readonly (SpanHint | undefined)[]): SpanHint | undefined {
  return joined(
    hints.filter((it) => it !== undefined),
    'all',
  )
}

/** True where one of these is; undefined if one of them says nothing. */
export function anyOf(hints: readonly (SpanHint | undefined)[]): SpanHint | undefined {
  const known = hints.filter((it) => it !== undefined)
  return known.length === hints.length ? joined(known, 'any') : undefined
}

/** Databases take some thousands of parameters, and expressions of limited depth; a filter may have more. */
export const MOST_HINT_VALUES = 200

function joined(hints: readonly SpanHint[], kind: 'all' | 'any'): SpanHint | undefined {
  const hint = { kind, hints }
  return hints.length === 0 || countOf(hint) > MOST_HINT_VALUES ? undefined : hint
}

function countOf(hint: SpanHint): number {
  if (hint.kind === 'text') return 1
  if (hint.kind === 'column') return hint.values.length
  return hint.hints.reduce((sum, it) => sum + countOf(it), 0)
}

/** How a database is asked. */
export interface HintDialect {
  /** Takes a value, and answers what stands for it in the text of the question. */
  readonly bind: (value: string) => string
  /** Whether a text has another within it. */
  readonly has: (text: string, part: string) => string
}

/** A hint in SQL on a span `s`. */
export function sqlOfHint(hint: SpanHint, dialect: HintDialect): string {
  switch (hint.kind) {
    case 'text':
      return dialect.has('s.record', dialect.bind(hint.text))
    case 'column': {
      const values = hint.values.map((value) => dialect.bind(value)).join()
      return hint.sign === '=' ? `s.${hint.column} IN (${values})` : `s.${hint.column} ${hint.sign} ${values}`
    }
    default: {
      const parts = hint.hints.map((it) => sqlOfHint(it, dialect))
      return `(${parts.join(hint.kind === 'all' ? ' AND ' : ' OR ')})`
    }
  }
}

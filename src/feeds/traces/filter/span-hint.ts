/**
 * A condition that every matching span fulfils, and maybe other spans too. A database can check it with an index or the record's text,
 * without parsing the record.
 */
export type SpanHint =
  | { readonly kind: 'all' | 'any'; readonly hints: readonly SpanHint[] }
  /** The record contains this text. */
  | { readonly kind: 'text'; readonly text: string }
  /** The column has one of these values; with a sign other than `=`, there is one value. */
  | {
      readonly kind: 'column'
      readonly column: string
      readonly sign: '=' | '<' | '<=' | '>' | '>='
      readonly values: readonly string[]
    }

/** All of the hints; those that are undefined are skipped. */
export function allOf(hints: readonly (SpanHint | undefined)[]): SpanHint | undefined {
  return joined(
    hints.filter((it) => it !== undefined),
    'all',
  )
}

/** One of the hints; undefined if one of them is. */
export function anyOf(hints: readonly (SpanHint | undefined)[]): SpanHint | undefined {
  const known = hints.filter((it) => it !== undefined)
  return known.length === hints.length ? joined(known, 'any') : undefined
}

/** Databases limit the number of parameters and the depth of expressions. */
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

/** The SQL of a database. */
export interface HintDialect {
  /** Adds a value, and answers its placeholder. */
  readonly bind: (value: string) => string
  /** An expression that tests whether a text contains another. */
  readonly has: (text: string, part: string) => string
}

/** A hint as an SQL condition on a span `s`. */
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

/** A condition in SQL on a span `s`, and the values of its parameters. */
export interface SqlCondition {
  readonly sql: string
  readonly values: readonly (string | number)[]
}

/** True where every one of these is that says something. */
export function allOf(conditions: readonly (SqlCondition | undefined)[]): SqlCondition | undefined {
  return joined(
    conditions.filter((it) => it !== undefined),
    ' AND ',
  )
}

/** True where one of these is; undefined if one of them says nothing. */
export function anyOf(conditions: readonly (SqlCondition | undefined)[]): SqlCondition | undefined {
  const known = conditions.filter((it) => it !== undefined)
  return known.length === conditions.length ? joined(known, ' OR ') : undefined
}

/** SQLite takes some thousands of parameters, and expressions of limited depth; a filter may have more. */
export const MOST_SQL_VALUES = 200

function joined(conditions: readonly SqlCondition[], word: string): SqlCondition | undefined {
  const values = conditions.flatMap((it) => it.values)
  if (conditions.length === 0 || values.length > MOST_SQL_VALUES) return undefined
  return { sql: `(${conditions.map(({ sql }) => sql).join(word)})`, values }
}

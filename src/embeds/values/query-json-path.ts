import { JSONPathEnvironment, JSONPathError } from 'json-p3'
import type { Json } from '../../json/json.ts'
import { tooManyVisited } from '../embed-budget.ts'
import { EmbedRefusal } from '../embed-refusal.ts'
import { jsonView } from './json-view.ts'
import { valueAt } from './value-at.ts'

/** Values that one query looks at: it cannot be interrupted, and others wait for so long. */
const MOST_VISITED_AT_ONCE = 50_000

/** A query is read recursively, so its length bounds how deep that goes. */
const LONGEST_QUERY = 1000

const environment = new JSONPathEnvironment({ maxRecursionDepth: 1000 })
// their regular expressions backtrack, so one query could hold the server up
environment.functionRegister.delete('match')
environment.functionRegister.delete('search')

/**
 * What an RFC 9535 query selects, exactly as it stands there: the value if it is one, an array of them if there are several.
 * `spend` is told how many values are looked at and may throw. Refuses a bad query, and one that selects nothing, with
 * `embed_path_not_found`; `match()` and `search()` are not offered.
 */
export function queryJsonPath(value: Json, query: string, spend: (values: number) => void): Json {
  const [first, ...others] = locationsOf(value, query, spend).map((location) => valueAt(value, location))
  if (first === undefined) {
    throw new EmbedRefusal('embed_path_not_found', `The JSONPath ${JSON.stringify(query)} selects nothing.`)
  }
  return others.length === 0 ? first : [first, ...others]
}

function locationsOf(value: Json, query: string, spend: (values: number) => void): (string | number)[][] {
  if (query.length > LONGEST_QUERY) {
    throw new EmbedRefusal(
      'embed_path_not_found',
      `The JSONPath has ${query.length} characters; at most ${LONGEST_QUERY} are read.`,
    )
  }
  let visited = 0
  const spendHere = (values: number): void => {
    visited += values
    if (visited > MOST_VISITED_AT_ONCE) throw tooManyVisited(MOST_VISITED_AT_ONCE)
    spend(values)
  }
  try {
    return environment.query(query, jsonView(value, spendHere)).locations()
  } catch (error) {
    if (!(error instanceof JSONPathError)) throw error
    throw new EmbedRefusal(
      'embed_path_not_found',
      `${JSON.stringify(query)} is not a JSONPath that can be followed: ${error.message}.`,
    )
  }
}

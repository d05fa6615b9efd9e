import { EmbedRefusal, selectValue } from '../../registry/embeds.ts'
import { getKey, isJsonObject, type Json } from '../../base/json.ts'

/** Maximum values that one JSONPath visits, about a tenth of a second; a recursive one over a large document visits many. */
const MOST_VALUES = 100_000

/**
 * The part of a document at an expression (interface 11.21): JSONPath if it begins with `$`, an RFC 6901 pointer if with `/`, else dot
 * notation. In dot notation a literal key has precedence, digits index arrays, and empty steps are ignored. JSONPath answers the one
 * selected value, or an array of several. Undefined for an invalid expression, a missing value, no step at all, or too many visited values.
 */
export function resolvePath(expression: string, document: Json): Json | undefined {
  if (expression === '') return undefined
  // a path without steps would be the whole document, for which there is $
  if (/^\.+$/.test(expression)) return isJsonObject(document) ? getKey(document, expression) : undefined
  let left = MOST_VALUES
  const account = (values: number): void => {
    left -= values
    if (left < 0) throw new EmbedRefusal('embed_path_not_found', 'The JSONPath looks at too many values.')
  }
  try {
    return selectValue(document, expression, account)
  } catch (error) {
    if (error instanceof EmbedRefusal) return undefined
    throw error
  }
}

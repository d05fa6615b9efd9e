import { EmbedRefusal, selectValue } from '../../registry/embeds.ts'
import { getKey, isJsonObject, type Json } from '../../base/json.ts'

/** Values that one JSONPath may look at, a tenth of a second or so; a recursive one over a large document looks at many. */
const MOST_VALUES = 100_000

/**
 * The part of a document that an expression names (interface 11.21): JSONPath if it begins with `$`, an RFC 6901 pointer if with
 * `/`, else dot notation, where a literal key goes first, digits index arrays and empty steps do not count. JSONPath answers the one
 * value it selects, or an array of several. Undefined where that fails: a bad expression, nothing there, no step at all, too much to
 * look at.
 */
export function resolvePath(expression: string, document: Json): Json | undefined {
  if (expression === '') return undefined
  // a way without steps would be the whole document, which is written $
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

import { getKey, type JsonObject } from '../../../base/json.ts'
import { invalidParameter } from '../handler-failure.ts'

/**
 * A field that is one of these words, or absent. Throws `invalid-parameter`, naming them; `path` is the place
 * of the fields.
 */
export function readChoice<Word extends string>(
  fields: JsonObject,
  name: string,
  words: readonly Word[],
  usual: Word,
  path: string,
): Word {
  const value = getKey(fields, name) ?? usual
  const word = words.find((it) => it === value)
  if (word === undefined) throw invalidParameter(path + name, words.join(', '), value)
  return word
}

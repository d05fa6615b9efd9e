import {
  type JsonObject,
  entriesOf,
  getKey,
  isJsonObject,
  keysOf,
  withKey,
  withoutKey,
} from '../json/json.ts'

/**
 * Inputs as they are meant (interface 11.18): `{"inputs": {…}}`, with `messages` beside it or not, stands for what is inside.
 */
export function unwrapInputs(inputs: JsonObject): JsonObject {
  const inner = getKey(inputs, 'inputs')
  const wrapped = isJsonObject(inner) && keysOf(inputs).every((key) => key === 'inputs' || key === 'messages')
  if (!wrapped) return inputs
  return entriesOf(withoutKey(inputs, 'inputs')).reduce(
    (all, [key, value]) => withKey(all, key, value),
    inner,
  )
}

/**
 * What templates may name (interface 11.18): every input, and all of them as `inputs`. `inputs` are unwrapped already; chat
 * leaves `messages` out of them first.
 */
export function promptVariables(inputs: JsonObject): JsonObject {
  return withKey(inputs, 'inputs', inputs)
}

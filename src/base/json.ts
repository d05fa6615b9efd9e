export { boundedJson } from './json/bounded-json.ts'
export { type CanonicalMembers, canonicalJson, canonicalMembers } from './json/canonical-json.ts'
export { countValues } from './json/count-values.ts'
export { isLight } from './json/is-light.ts'
export { JsonStream, arrayStream, holdsStream, stringifyStreams, textOrStream } from './json/json-stream.ts'
export { JsonTextError } from './json/json-text-error.ts'
export { boundedText, groupBy, parsedOrUndefined } from './json/json-values.ts'
export {
  ExactNumber,
  ExactObject,
  type Json,
  type JsonObject,
  type PlainObject,
  entriesOf,
  equalJson,
  fromEntries,
  getKey,
  getPath,
  hasKey,
  isAwkwardKey,
  isJsonArray,
  isJsonObject,
  keysOf,
  membersAt,
  membersOf,
  numberOf,
  plainJson,
  pointerKeys,
  pointerToken,
  withKey,
  withoutKey,
} from './json/json.ts'
export { MOST_LEVELS, type ParseJsonOptions, parseInTurns, parseJson } from './json/parse-json.ts'
export { printHeavy, printJson } from './json/print-json.ts'
export { removePaths } from './json/remove-paths.ts'
export { JsonText, stringifyJson } from './json/stringify-json.ts'
export { type PlacedValue, withValues } from './json/with-values.ts'

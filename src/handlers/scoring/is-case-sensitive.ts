import { getKey, type JsonObject } from '../../json/json.ts'

/** Whether upper and lower case are told apart: `case_sensitive` is `true`, or there is none (contract/handlers 2.3). */
export function isCaseSensitive(parameters: JsonObject): boolean {
  const value = getKey(parameters, 'case_sensitive')
  return value === undefined || value === true
}

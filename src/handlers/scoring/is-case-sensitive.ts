import { getKey, type JsonObject } from '../../json/json.ts'

/** Whether upper and lower case are told apart: `case_sensitive` is `true`, or there is none (interface 11.8). */
export function isCaseSensitive(parameters: JsonObject): boolean {
  const value = getKey(parameters, 'case_sensitive')
  return value === undefined || value === true
}

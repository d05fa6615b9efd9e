import type { Json } from '../../json/json.ts'
import type { HandlerRequest } from '../handler.ts'
import { parsesAsJson } from '../metrics/parses-as-json.ts'
import { neededOutputs } from '../scoring/needed-outputs.ts'

/** `svc:builtin:auto_contains_json:v0` (contract/handlers 2.3): whether what is from the first `{` to the last `}` is JSON. */
export function autoContainsJson(request: HandlerRequest): Json {
  const outputs = neededOutputs(request)
  if (typeof outputs !== 'string') return { success: true }
  const start = outputs.indexOf('{')
  const end = outputs.lastIndexOf('}')
  return { success: start !== -1 && start < end && parsesAsJson(outputs.slice(start, end + 1)) }
}

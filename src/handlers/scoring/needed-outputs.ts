import { isJsonObject, type JsonObject } from '../../json/json.ts'
import { invalidOutputs } from '../handler-failure.ts'
import type { HandlerRequest } from '../handler.ts'

/** The outputs to be scored, a string or an object (contract/handlers 2.1). Throws `invalid-outputs` for anything else, arrays too. */
export function neededOutputs({ outputs }: HandlerRequest): string | JsonObject {
  if (typeof outputs === 'string' || isJsonObject(outputs)) return outputs
  throw invalidOutputs('dict or str', outputs)
}

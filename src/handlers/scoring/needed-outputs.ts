import { isJsonObject, type Json, type JsonObject } from '../../json/json.ts'
import { invalidOutputs } from '../handler-failure.ts'
import type { HandlerRequest } from '../handler.ts'
import { DOCUMENT, documentIn } from './document-in.ts'

/** The outputs to be scored, a string or an object (interface 11.3). Throws `invalid-outputs` for anything else, arrays too. */
export function neededOutputs({ outputs }: HandlerRequest): string | JsonObject {
  if (typeof outputs === 'string' || isJsonObject(outputs)) return outputs
  throw invalidOutputs('dict or str', outputs)
}

/** The document that the outputs are or hold (`documentIn`); null where there are none. Throws `invalid-outputs` for anything else. */
export function outputsDocument({ outputs = null }: HandlerRequest): Json {
  const document = documentIn(outputs)
  if (document === undefined) throw invalidOutputs(DOCUMENT, outputs)
  return document
}

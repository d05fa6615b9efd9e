import { getKey, isJsonObject, type Json, type JsonObject } from '../../json/json.ts'
import { invalidInput, invalidInputs, invalidParameter, missingInput } from '../handler-failure.ts'
import type { HandlerRequest } from '../handler.ts'
import { DOCUMENT, documentIn } from './document-in.ts'

/** What an answer is known by, and is. */
export interface ExpectedOutput<Value extends Json = Json> {
  readonly key: string
  readonly value: Value
}

/**
 * The answer that outputs are compared with: the input that `correct_answer_key` names, `correct_answer` unless given (interface 11.3).
 * Throws `invalid-inputs`, `invalid-parameter` for a key that is no string, or `missing-input`.
 */
export function expectedOutput({ parameters, inputs }: HandlerRequest): ExpectedOutput {
  if (inputs === undefined) throw invalidInputs('dict', inputs)
  const key = getKey(parameters, 'correct_answer_key') ?? 'correct_answer'
  if (typeof key !== 'string') throw invalidParameter('correct_answer_key', 'str', key)
  const value = getKey(inputs, key)
  if (value === undefined) throw missingInput(key)
  return { key, value }
}

/** The same where only a string or an object will do; else `invalid-input`. */
export function expectedText(request: HandlerRequest): ExpectedOutput<string | JsonObject> {
  const { key, value } = expectedOutput(request)
  if (typeof value === 'string' || isJsonObject(value)) return { key, value }
  throw invalidInput(key, 'dict or str', value)
}

/** The document that the answer is or holds (`documentIn`); else `invalid-input`. */
export function expectedDocument(request: HandlerRequest): Json {
  const { key, value } = expectedOutput(request)
  const document = documentIn(value)
  if (document === undefined) throw invalidInput(key, DOCUMENT, value)
  return document
}

import {
  invalidInput,
  invalidInputs,
  invalidOutputs,
  invalidParameter,
  missingInput,
} from './handler-failure.ts'
import type { HandlerRequest } from './handler.ts'
import { boundedJson } from '../json/bounded-json.ts'
import { canonicalJson } from '../json/canonical-json.ts'
import { JsonTextError } from '../json/json-text-error.ts'
import {
  ExactNumber,
  getKey,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  keysOf,
  numberOf,
  type PlainObject,
} from '../json/json.ts'
import { parseJson } from '../json/parse-json.ts'
import { closedObject, openObject } from '../resources/workflows/schemas/object-schema.ts'

/** The JSON value that a text holds; undefined for a text that is no JSON this service can keep. */
export function jsonIn(text: string): Json | undefined {
  try {
    return parseJson(text)
  } catch (error) {
    if (error instanceof JsonTextError) return undefined
    throw error
  }
}

/**
 * The document that a value is, or that a text holds: an object, an array or null. Undefined for anything else, which no path leads
 * into.
 */
export function documentIn(value: Json): Json | undefined {
  const found = typeof value === 'string' ? jsonIn(value) : value
  return found === null || isJsonArray(found) || isJsonObject(found) ? found : undefined
}

/** What a failure says is expected where a document is needed. */
export const DOCUMENT = 'dict, list or None, or its JSON text'

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

/**
 * The outputs that the answer of a judge stands for, be it a model or somebody's server (interface 11.16, 11.17): an object is them,
 * a number or a boolean is the score, shown as it was sent. Undefined for anything else.
 */
export function judgedOutputs(answer: Json | undefined, threshold: number): Json | undefined {
  if (answer === undefined || isJsonObject(answer)) return answer
  const score = typeof answer === 'boolean' ? Number(answer) : numberOf(answer)
  return score === undefined ? undefined : { score: answer, success: score >= threshold }
}

/** The texts of outputs and answer that a measure of likeness compares, in that order; lower case where case does not count. */
export function scoredTexts(request: HandlerRequest): [outputs: string, answer: string] {
  const { value: answer } = expectedText(request)
  const texts: [string, string] = [textOf(neededOutputs(request)), textOf(answer)]
  if (isCaseSensitive(request.parameters)) return texts
  return [texts[0].toLowerCase(), texts[1].toLowerCase()]
}

/** The text of outputs, or of an answer, that is compared (interface 11.10): a string itself, else RFC 8785. */
export function textOf(value: string | JsonObject): string {
  return typeof value === 'string' ? value : canonicalJson(value)
}

/** What a score comes to. */
export type Verdict = { readonly score: number; readonly success: boolean }

/** The verdict on a score: it succeeds where it reaches the threshold (interface 11.4). */
export function verdictOn(score: number, threshold: number): Verdict {
  return { score, success: score >= threshold }
}

/** Why two values cannot be equal, where that is because their types differ: a sentence that names both; undefined otherwise. */
export function differenceOfTypes(output: Json, expected: Json): string | undefined {
  if (kindOf(output) === kindOf(expected)) return undefined
  return `The types differ: the output is ${described(output)}, the expected output is ${described(expected)}.`
}

/** Characters of a value that a reason shows. */
const SHOWN = 80

function described(value: Json): string {
  return value === null ? 'null' : `the ${kindOf(value)} ${boundedJson(value, SHOWN)}`
}

function kindOf(value: Json): string {
  if (value === null) return 'null'
  if (typeof value === 'string') return 'text'
  if (typeof value === 'number' || value instanceof ExactNumber) return 'number'
  if (isJsonArray(value)) return 'array'
  return isJsonObject(value) ? 'object' : 'boolean'
}

const USUAL = 0.5

/**
 * The score from which on a run succeeds (interface 11.4): 0.5 where `value` is falsy, else a number above 0 and up to 1, an
 * integer or not. Throws `invalid-parameter`, always at `threshold`.
 */
export function readThreshold(value: Json | undefined): number {
  const threshold = readFreeThreshold(value)
  if (threshold > 0 && threshold <= 1) return threshold
  throw invalidParameter('threshold', 'float[0.0, 1.0]', value)
}

/** The same for a judge, whose scores may be of any size. */
export function readFreeThreshold(value: Json | undefined): number {
  if (isFalsy(value)) return USUAL
  const threshold = numberOf(value)
  if (threshold === undefined) throw invalidParameter('threshold', 'float', value)
  return threshold
}

/** The same for custom code (interface 11.14): a text that spells the number will do, and 0 is 0. */
export function readLooseThreshold(value: Json | undefined): number {
  if (value === undefined || value === null || value === '') return USUAL
  const threshold = numberIn(value)
  if (threshold === undefined || !Number.isFinite(threshold))
    throw invalidParameter('threshold', 'float', value)
  return threshold
}

/** The number that a value is, or that a text spells as Python's float() reads it; undefined for anything else. */
export function numberIn(value: Json): number | undefined {
  if (typeof value !== 'string') return numberOf(value)
  return /^\s*[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?\s*$/i.test(value) ? Number(value) : undefined
}

/** Whether upper and lower case are told apart: `case_sensitive` is `true`, or there is none (interface 11.8). */
export function isCaseSensitive(parameters: JsonObject): boolean {
  const value = getKey(parameters, 'case_sensitive')
  return value === undefined || value === true
}

/** Whether a parameter counts as one that is not there (interface 11.4): nothing, null, zero, false, or empty. */
export function isFalsy(value: Json | undefined): boolean {
  if (value === undefined || value === null || value === '' || value === false) return true
  if (isJsonArray(value)) return value.length === 0
  if (isJsonObject(value)) return keysOf(value).length === 0
  return numberOf(value) === 0
}

const reason = { type: 'string', description: 'Why, where the verdict alone does not say it.' }

/** The answer of an evaluator that only says yes or no. */
export const passed: PlainObject = closedObject({ success: { type: 'boolean' }, reason }, ['success'])

/** The answer of an evaluator that gives a number, and whether that is enough. */
export const scored: PlainObject = closedObject({
  score: { type: 'number' },
  success: { type: 'boolean' },
  reason,
})

/** The answer of somebody else, who may say more than was asked for; a number or a yes becomes a score. */
export const judged: PlainObject = openObject({
  score: { type: ['number', 'boolean'] },
  success: { type: 'boolean' },
})

/** The parameter that names the input which holds the expected answer. */
export const answerKey: PlainObject = {
  type: 'string',
  default: 'correct_answer',
  'x-svc-type': 'text',
  title: 'Input that holds the expected answer',
}

/** A parameter that most people leave alone. */
export function advanced(schema: PlainObject): PlainObject {
  return { ...schema, 'x-svc-ui-advanced': true }
}

import {
  invalidInput,
  invalidInputs,
  invalidOutputs,
  invalidParameter,
  missingInput,
} from './handler-failure.ts'
import type { HandlerRequest } from './handler.ts'
import {
  boundedJson,
  canonicalJson,
  JsonTextError,
  ExactNumber,
  getKey,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  keysOf,
  numberOf,
  type PlainObject,
  parseJson,
} from '../../base/json.ts'
import { closedObject, openObject } from '../../registry/workflows.ts'

/** Parses a text as JSON; undefined if it is not JSON that this service can store. */
export function jsonIn(text: string): Json | undefined {
  try {
    return parseJson(text)
  } catch (error) {
    if (error instanceof JsonTextError) return undefined
    throw error
  }
}

/**
 * The document that a value is, or that a text contains: an object, an array or null. Undefined for other
 * values, because no path leads into them.
 */
export function documentIn(value: Json): Json | undefined {
  const found = typeof value === 'string' ? jsonIn(value) : value
  return found === null || isJsonArray(found) || isJsonObject(found) ? found : undefined
}

/** The description of a document in failures. */
export const DOCUMENT = 'dict, list or None, or its JSON text'

/**
 * The outputs to score, a string or an object (interface 11.3). Throws `invalid-outputs` for anything else,
 * including arrays.
 */
export function neededOutputs({ outputs }: HandlerRequest): string | JsonObject {
  if (typeof outputs === 'string' || isJsonObject(outputs)) return outputs
  throw invalidOutputs('dict or str', outputs)
}

/**
 * The document in the outputs (`documentIn`); null if there are no outputs. Throws `invalid-outputs` for
 * anything else.
 */
export function outputsDocument({ outputs = null }: HandlerRequest): Json {
  const document = documentIn(outputs)
  if (document === undefined) throw invalidOutputs(DOCUMENT, outputs)
  return document
}

/** An expected output, and the key of its input. */
export interface ExpectedOutput<Value extends Json = Json> {
  readonly key: string
  readonly value: Value
}

/**
 * The expected output: the input that `correct_answer_key` names, by default `correct_answer` (interface
 * 11.3). Throws `invalid-inputs`, `invalid-parameter` for a key that is no string, or `missing-input`.
 */
export function expectedOutput({ parameters, inputs }: HandlerRequest): ExpectedOutput {
  if (inputs === undefined) throw invalidInputs('dict', inputs)
  const key = getKey(parameters, 'correct_answer_key') ?? 'correct_answer'
  if (typeof key !== 'string') throw invalidParameter('correct_answer_key', 'str', key)
  const value = getKey(inputs, key)
  if (value === undefined) throw missingInput(key)
  return { key, value }
}

/** The same for a string or an object only. Throws `invalid-input` for anything else. */
export function expectedText(request: HandlerRequest): ExpectedOutput<string | JsonObject> {
  const { key, value } = expectedOutput(request)
  if (typeof value === 'string' || isJsonObject(value)) return { key, value }
  throw invalidInput(key, 'dict or str', value)
}

/** The document in the expected output (`documentIn`). Throws `invalid-input` if there is none. */
export function expectedDocument(request: HandlerRequest): Json {
  const { key, value } = expectedOutput(request)
  const document = documentIn(value)
  if (document === undefined) throw invalidInput(key, DOCUMENT, value)
  return document
}

/**
 * Converts the answer of a judge, a model or a hook, to outputs (interface 11.16, 11.17). An object is
 * returned unchanged; a number or a boolean becomes the score, shown as it was sent. Undefined for anything
 * else.
 */
export function judgedOutputs(answer: Json | undefined, threshold: number): Json | undefined {
  if (answer === undefined || isJsonObject(answer)) return answer
  const score = typeof answer === 'boolean' ? Number(answer) : numberOf(answer)
  return score === undefined ? undefined : { score: answer, success: score >= threshold }
}

/**
 * The texts of outputs and expected output to compare for similarity, in that order; lowercased if case is
 * ignored.
 */
export function scoredTexts(request: HandlerRequest): [outputs: string, answer: string] {
  const { value: answer } = expectedText(request)
  const texts: [string, string] = [textOf(neededOutputs(request)), textOf(answer)]
  if (isCaseSensitive(request.parameters)) return texts
  return [texts[0].toLowerCase(), texts[1].toLowerCase()]
}

/** The text to compare (interface 11.10): a string itself, anything else as RFC 8785 JSON. */
export function textOf(value: string | JsonObject): string {
  return typeof value === 'string' ? value : canonicalJson(value)
}

export type Verdict = { readonly score: number; readonly success: boolean }

/** The verdict on a score: it succeeds if it reaches the threshold (interface 11.4). */
export function verdictOn(score: number, threshold: number): Verdict {
  return { score, success: score >= threshold }
}

/** A sentence that names the types of two values if these differ; undefined otherwise. */
export function differenceOfTypes(output: Json, expected: Json): string | undefined {
  if (kindOf(output) === kindOf(expected)) return undefined
  return `The types differ: the output is ${described(output)}, the expected output is ${described(expected)}.`
}

const CHARACTERS_SHOWN = 80

function described(value: Json): string {
  return value === null ? 'null' : `the ${kindOf(value)} ${boundedJson(value, CHARACTERS_SHOWN)}`
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
 * The minimum score for success (interface 11.4): 0.5 if `value` is falsy, otherwise a number above 0 and up
 * to 1. Throws `invalid-parameter`, always at `threshold`.
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

/** The same for custom code (interface 11.14): a numeric string is accepted, and 0 stays 0. */
export function readLooseThreshold(value: Json | undefined): number {
  if (value === undefined || value === null || value === '') return USUAL
  const threshold = numberIn(value)
  if (threshold === undefined || !Number.isFinite(threshold))
    throw invalidParameter('threshold', 'float', value)
  return threshold
}

/**
 * The number that a value is, or that a text contains in the format of Python's float(); undefined for
 * anything else.
 */
export function numberIn(value: Json): number | undefined {
  if (typeof value !== 'string') return numberOf(value)
  return /^\s*[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?\s*$/i.test(value) ? Number(value) : undefined
}

/** Whether the comparison is case-sensitive: `case_sensitive` is `true` or absent (interface 11.8). */
export function isCaseSensitive(parameters: JsonObject): boolean {
  const value = getKey(parameters, 'case_sensitive')
  return value === undefined || value === true
}

/** Whether a parameter counts as absent (interface 11.4): undefined, null, zero, false, or empty. */
export function isFalsy(value: Json | undefined): boolean {
  if (value === undefined || value === null || value === '' || value === false) return true
  if (isJsonArray(value)) return value.length === 0
  if (isJsonObject(value)) return keysOf(value).length === 0
  return numberOf(value) === 0
}

const reason = { type: 'string', description: 'Why, where the verdict alone does not say it.' }

/** The output schema of an evaluator with a yes or no. */
export const passed: PlainObject = closedObject({ success: { type: 'boolean' }, reason }, ['success'])

/** The output schema of an evaluator with a score and a yes or no. */
export const scored: PlainObject = closedObject({
  score: { type: 'number' },
  success: { type: 'boolean' },
  reason,
})

/** The output schema of an external judge, which may add members; a number or a boolean becomes a score. */
export const judged: PlainObject = openObject({
  score: { type: ['number', 'boolean'] },
  success: { type: 'boolean' },
})

/** The parameter that names the input with the expected answer. */
export const answerKey: PlainObject = {
  type: 'string',
  default: 'correct_answer',
  'x-svc-type': 'text',
  title: 'Input that holds the expected answer',
  description: 'The column of the testset that says what the output should be, such as correct_answer.',
}

/** Marks a parameter as advanced. */
export function advanced(schema: PlainObject): PlainObject {
  return { ...schema, 'x-svc-ui-advanced': true }
}

import { canonicalJson } from '../../json/canonical-json.ts'
import { JsonTextError } from '../../json/json-text-error.ts'
import { type Json, type JsonObject, getKey, isJsonObject, numberOf } from '../../json/json.ts'
import { parseJson } from '../../json/parse-json.ts'
import { stringifyJson } from '../../json/stringify-json.ts'
import {
  HandlerFailure,
  invalidInputs,
  invalidOutputs,
  invalidParameter,
  missingParameter,
  typeWord,
} from '../handler-failure.ts'
import type { Handler } from '../handler.ts'
import { callHook } from './call-hook.ts'
import { hookUrlProblem } from './hook-url-problem.ts'

/**
 * `svc:builtin:auto_webhook_test:v0` (contract/handlers 2.7): has outputs scored by whoever answers at `parameters.webhook_url`. A
 * number or boolean is a score to be compared with the threshold; an object or a string is the outputs as it is.
 */
export function webhookTestHandler(timeoutMs: number): Handler {
  return async ({ parameters, inputs, outputs }, context) => {
    const url = webhookUrl(parameters, context.outgoing.policy.allowPrivate)
    if (!inputs) throw invalidInputs('dict', inputs)
    if (typeof outputs !== 'string' && !isJsonObject(outputs)) throw invalidOutputs('dict or str', outputs)
    const threshold = thresholdOf(parameters)
    const output = typeof outputs === 'string' ? outputs : canonicalJson(outputs)
    const body = stringifyJson({ inputs, output })
    const text = await callHook({ url, headers: new Map(), secrets: [], body, timeoutMs }, context)
    return verdictOf(answered(text), threshold)
  }
}

function webhookUrl(parameters: JsonObject, allowPrivate: boolean): string {
  const url = getKey(parameters, 'webhook_url') ?? ''
  if (url === '') throw missingParameter('webhook_url')
  if (typeof url !== 'string') throw invalidParameter('webhook_url', 'str', url)
  const problem = hookUrlProblem(url, allowPrivate)
  if (problem === undefined) return url
  throw new HandlerFailure(
    'v0:schemas:invalid-parameter',
    `Invalid parameter:\nAt 'webhook_url'\nThe URL ${problem}.`,
  )
}

/** A threshold that is absent or empty is 0.5 (contract/handlers 2.2). */
function thresholdOf(parameters: JsonObject): number {
  const given = getKey(parameters, 'threshold') ?? null
  if (given === null || given === false || given === '') return 0.5
  const threshold = numberOf(given)
  if (threshold === undefined) throw invalidParameter('threshold', 'float', given)
  if (threshold === 0) return 0.5
  if (threshold > 0 && threshold <= 1) return threshold
  throw invalidParameter('threshold', 'float[0.0, 1.0]', given)
}

function answered(text: string): Json {
  try {
    return parseJson(text)
  } catch (error) {
    if (error instanceof JsonTextError) throw nonsense(`cannot be read as JSON: ${error.message}`)
    throw error
  }
}

function verdictOf(answer: Json, threshold: number): Json {
  if (typeof answer === 'string' || isJsonObject(answer)) return answer
  const score = typeof answer === 'boolean' ? Number(answer) : numberOf(answer)
  if (score !== undefined) return { score: answer, success: score >= threshold }
  throw nonsense(`must be a number, boolean, object or string, but is of type ${typeWord(answer)}.`)
}

function nonsense(sentence: string): HandlerFailure {
  return new HandlerFailure('v0:workflows:custom-hook-client-error', `The answer of the webhook ${sentence}`)
}

import { getKey, type Json, type JsonObject } from '../../json/json.ts'
import { type HandlerFailure, invalidInput, invalidOutputs, outputsProblem } from '../handler-failure.ts'
import type { HandlerRequest } from '../handler.ts'
import { TimeSlice } from '../../scheduling/cooperative.ts'
import { jsonDiff } from '../metrics/json-diff.ts'
import { documentIn } from '../scoring/document-in.ts'
import { isFalsy } from '../scoring/is-falsy.ts'
import { expectedDocument } from '../scoring/needed-answer.ts'
import { neededOutputs } from '../scoring/needed-outputs.ts'
import { readThreshold } from '../scoring/read-threshold.ts'
import { verdictOn } from '../scoring/verdict.ts'

/** `svc:builtin:auto_json_diff:v0` (contract/handlers 2.3): the share of the answer's leaves that the outputs have, too. */
export async function autoJsonDiff(request: HandlerRequest): Promise<Json> {
  const { parameters } = request
  const { key, value: answer } = expectedDocument(request)
  const expected = documentIn(answer)
  if (expected === undefined) throw invalidInput(key, 'dict', answer)
  const outputs = neededOutputs(request)
  const actual = documentIn(outputs)
  if (actual === undefined) throw invalidOutputs('dict', outputs)
  const threshold = readThreshold(getKey(parameters, 'threshold'))
  const options = {
    comparesTypesOnly: isSet(parameters, 'compare_schema_only'),
    countsExtraLeaves: isSet(parameters, 'predict_keys'),
    ignoresKeyCase: isSet(parameters, 'case_insensitive_keys'),
  }
  const score = await jsonDiff(expected, actual, options, new TimeSlice(undefined, tooMuch))
  return verdictOn(score, threshold)
}

function isSet(parameters: JsonObject, name: string): boolean {
  return !isFalsy(getKey(parameters, name))
}

function tooMuch(): HandlerFailure {
  return outputsProblem(
    'Comparing outputs and answer leaf by leaf takes more than ten seconds; compare smaller documents.',
  )
}

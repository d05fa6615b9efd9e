import { getKey, type Json, type JsonObject, type PlainObject } from '../../json/json.ts'
import { closedObject } from '../../resources/workflows/schemas/object-schema.ts'
import { TimeSlice } from '../../scheduling/cooperative.ts'
import { type HandlerFailure, invalidInput, invalidOutputs, outputsProblem } from '../handler-failure.ts'
import type { HandlerDefinition, HandlerRequest } from '../handler.ts'
import { jsonDiff } from '../metrics/json-diff.ts'
import { documentIn } from '../scoring/document-in.ts'
import { isFalsy } from '../scoring/is-falsy.ts'
import { expectedDocument } from '../scoring/needed-answer.ts'
import { neededOutputs } from '../scoring/needed-outputs.ts'
import { readThreshold } from '../scoring/read-threshold.ts'
import { advanced, answerKey, scored } from '../scoring/schema-parts.ts'
import { verdictOn } from '../scoring/verdict.ts'

/** `svc:builtin:auto_json_diff:v0` (contract/handlers 2.3): the share of the answer's leaves that the outputs have, too. */
export const autoJsonDiff: HandlerDefinition = {
  key: 'auto_json_diff',
  kind: 'builtin',
  schemas: {
    parameters: closedObject({
      compare_schema_only: option('Compare types instead of values'),
      predict_keys: option('Count keys that only the output has'),
      case_insensitive_keys: option('Ignore the case of keys'),
      correct_answer_key: advanced(answerKey),
    }),
    outputs: scored,
  },
  template: {
    name: 'JSON Diff Match',
    description: 'Scores a JSON output by the share of its values that equal those of the expected JSON.',
    roles: 'evaluator',
    categories: ['classifiers'],
  },
  example: {
    inputs: { correct_answer: '{"city":"Paris","river":"Seine"}' },
    outputs: '{"city":"Paris","river":"Rhine"}',
  },
  run,
}

async function run(request: HandlerRequest): Promise<Json> {
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

function option(title: string): PlainObject {
  return advanced({ type: 'boolean', default: false, 'x-svc-type': 'bool', title })
}

function isSet(parameters: JsonObject, name: string): boolean {
  return !isFalsy(getKey(parameters, name))
}

function tooMuch(): HandlerFailure {
  return outputsProblem(
    'Comparing outputs and answer leaf by leaf takes more than ten seconds; compare smaller documents.',
  )
}

import { getKey, type Json, type JsonObject, type PlainObject } from '../../../base/json.ts'
import { closedObject } from '../../../registry/workflows.ts'
import { TimeSlice } from '../../../base/scheduling.ts'
import { type HandlerFailure, outputsProblem } from '../handler-failure.ts'
import { type HandlerDefinition, type HandlerRequest, ReasonedVerdict } from '../handler.ts'
import { jsonDiff } from '../metrics/json-diff.ts'
import {
  advanced,
  answerKey,
  differenceOfTypes,
  expectedDocument,
  isFalsy,
  outputsDocument,
  readThreshold,
  scored,
  verdictOn,
} from '../scoring.ts'

/**
 * `svc:builtin:auto_json_diff:v0` (interface 11.7): the share of the answer's leaves that the outputs also
 * have. Both are documents or texts of documents; missing outputs are null.
 */
export const autoJsonDiff: HandlerDefinition = {
  key: 'auto_json_diff',
  kind: 'builtin',
  schemas: {
    parameters: closedObject({
      compare_schema_only: option(
        'Compare types instead of values',
        'If on, Paris and Rome count as equal, because both are text.',
      ),
      predict_keys: option(
        'Count keys that only the output has',
        'If on, a key that the expected JSON does not have lowers the score.',
      ),
      case_insensitive_keys: option('Ignore the case of keys', 'If on, the keys City and city are the same.'),
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

async function run(request: HandlerRequest): Promise<Json | ReasonedVerdict> {
  const { parameters } = request
  const expected = expectedDocument(request)
  const actual = outputsDocument(request)
  const threshold = readThreshold(getKey(parameters, 'threshold'))
  const options = {
    comparesTypesOnly: isSet(parameters, 'compare_schema_only'),
    countsExtraLeaves: isSet(parameters, 'predict_keys'),
    ignoresKeyCase: isSet(parameters, 'case_insensitive_keys'),
  }
  const score = await jsonDiff(expected, actual, options, new TimeSlice(undefined, tooMuch))
  const verdict = verdictOn(score, threshold)
  const reason = score === 0 ? differenceOfTypes(actual, expected) : undefined
  return reason === undefined ? verdict : new ReasonedVerdict(verdict, reason)
}

function option(title: string, description: string): PlainObject {
  return advanced({ type: 'boolean', default: false, 'x-svc-type': 'bool', title, description })
}

function isSet(parameters: JsonObject, name: string): boolean {
  return !isFalsy(getKey(parameters, name))
}

function tooMuch(): HandlerFailure {
  return outputsProblem(
    'Comparing outputs and answer leaf by leaf takes more than ten seconds; compare smaller documents.',
  )
}

import {
  boundedJson,
  fromEntries,
  getKey,
  getPath,
  isJsonArray,
  type Json,
  type JsonObject,
  withKey,
} from '../../../base/json.ts'
import { resolvePath } from '../../templates/resolve-path.ts'
import { closedObject } from '../../../registry/workflows.ts'
import { TimeSlice } from '../../../base/scheduling.ts'
import {
  type HandlerFailure,
  invalidParameter,
  missingParameter,
  parameterProblem,
} from '../handler-failure.ts'
import { type HandlerDefinition, type HandlerRequest, ReasonedVerdict } from '../handler.ts'
import { equalLoosely } from '../metrics/equal-loosely.ts'
import { answerKey, differenceOfTypes, expectedDocument, outputsDocument } from '../scoring.ts'

/**
 * `svc:builtin:json_multi_field_match:v0` (interface 11.3): for each of `fields` (paths, interface 11.21), 1
 * if outputs and answer have the same value there or both lack it, else 0; `aggregate_score` is the mean.
 * Both are documents or texts of documents; missing outputs are null. A reason names a field where only the
 * types differ.
 */
export const jsonMultiFieldMatch: HandlerDefinition = {
  key: 'json_multi_field_match',
  kind: 'builtin',
  schemas: {
    parameters: closedObject(
      {
        fields: {
          type: 'array',
          items: { type: 'string' },
          default: [],
          'x-svc-type': 'fields_tags_editor',
          title: 'Fields to compare',
          description:
            'Keys or paths that output and expected JSON should have the same value at, such as address.city.',
        },
        correct_answer_key: answerKey,
      },
      ['fields', 'correct_answer_key'],
    ),
    outputs: {
      ...closedObject({ aggregate_score: { type: 'number' } }, ['aggregate_score']),
      additionalProperties: true,
    },
  },
  computedOutputs: (parameters) => fieldScores(getPath(parameters, 'fields')),
  template: {
    name: 'JSON Multi-Field Match',
    description: 'Compares fields of a JSON output with the expected JSON, and counts how many are equal.',
    roles: 'evaluator',
    categories: ['classifiers'],
  },
  example: {
    parameters: { fields: ['city', 'river'] },
    inputs: { correct_answer: '{"city":"Paris","river":"Seine"}' },
    outputs: '{"city":"Paris","river":"Rhine"}',
  },
  run,
}

async function run(request: HandlerRequest): Promise<Json | ReasonedVerdict> {
  const fields = neededFields(request.parameters)
  const expected = expectedDocument(request)
  const actual = outputsDocument(request)
  const slice = new TimeSlice(undefined, () => tooMuch(fields.length))
  const scores: (readonly [string, number])[] = []
  let reason: string | undefined
  for (const field of fields) {
    // a missing value equals null here
    const [value, wanted] = [resolvePath(field, actual) ?? null, resolvePath(field, expected) ?? null]
    const agrees = equalLoosely(value, wanted)
    scores.push([field, agrees ? 1 : 0])
    if (!agrees) reason ??= reasonAt(field, value, wanted)
    await slice.pause()
  }
  const matches = scores.reduce((sum, [, score]) => sum + score, 0)
  const outputs = fromEntries([...scores, ['aggregate_score', matches / fields.length]])
  return reason === undefined ? outputs : new ReasonedVerdict(outputs, reason)
}

function reasonAt(field: string, value: Json, wanted: Json): string | undefined {
  const difference = differenceOfTypes(value, wanted)
  return difference === undefined ? undefined : `At ${boundedJson(field, 80)}: ${difference}`
}

/** A number for each field, named by its path, and their mean. */
function fieldScores(fields: Json | undefined): JsonObject | undefined {
  if (!isJsonArray(fields)) return undefined
  const scores = fields
    .filter((field) => typeof field === 'string')
    .map((field) => [field, { type: 'number' }] as const)
  const properties = fromEntries([...scores, ['aggregate_score', { type: 'number' }]])
  return withKey(closedObject({}, ['aggregate_score']), 'properties', properties)
}

function neededFields(parameters: JsonObject): readonly string[] {
  const fields = getKey(parameters, 'fields') ?? undefined
  if (fields === undefined) throw missingParameter('fields')
  if (!isJsonArray(fields) || fields.length === 0) throw invalidParameter('fields', 'non-empty list', fields)
  return fields.map((field, index) => {
    if (typeof field === 'string') return field
    throw invalidParameter(`fields[${index}]`, 'str', field)
  })
}

function tooMuch(fields: number): HandlerFailure {
  return parameterProblem(
    'fields',
    `The documents are too large for ${fields} fields to be compared; send fewer, or ways to smaller parts.`,
  )
}

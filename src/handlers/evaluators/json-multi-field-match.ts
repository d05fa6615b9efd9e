import {
  fromEntries,
  getKey,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  withKey,
} from '../../json/json.ts'
import { resolvePath } from '../../prompts/templates/resolve-path.ts'
import { closedObject } from '../../resources/workflows/schemas/object-schema.ts'
import { TimeSlice } from '../../scheduling/cooperative.ts'
import { parameterAt } from '../chosen-schema.ts'
import {
  type HandlerFailure,
  invalidInput,
  invalidParameter,
  missingParameter,
  parameterProblem,
} from '../handler-failure.ts'
import type { HandlerDefinition, HandlerRequest } from '../handler.ts'
import { equalLoosely } from '../metrics/equal-loosely.ts'
import { documentIn } from '../scoring/document-in.ts'
import { expectedOutput } from '../scoring/needed-answer.ts'
import { answerKey } from '../scoring/schema-parts.ts'

/**
 * `svc:builtin:json_multi_field_match:v0` (contract/handlers 2.3): 1 for each of `fields` (paths, contract/handlers 3.3) that outputs and
 * answer have the same at, or both lack, else 0; `aggregate_score` is the mean. Outputs that are no JSON object score 0 everywhere.
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
  computedOutputs: (parameters) => fieldScores(parameterAt(parameters, 'fields')),
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

async function run(request: HandlerRequest): Promise<Json> {
  const fields = neededFields(request.parameters)
  const expected = expectedDocument(request)
  const { outputs } = request
  const actual = typeof outputs === 'string' || isJsonObject(outputs) ? documentIn(outputs) : undefined
  const slice = new TimeSlice(undefined, () => tooMuch(fields.length))
  const scores: (readonly [string, number])[] = []
  for (const field of fields) {
    scores.push([field, isJsonObject(actual) && agreesAt(field, actual, expected) ? 1 : 0])
    await slice.pause()
  }
  const matches = scores.reduce((sum, [, score]) => sum + score, 0)
  return fromEntries([...scores, ['aggregate_score', matches / fields.length]])
}

/** One number for each field, named by its path, and their mean. */
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

function expectedDocument(request: HandlerRequest): Json {
  const { key, value } = expectedOutput(request)
  if (typeof value !== 'string' && !isJsonObject(value)) throw invalidInput(key, 'dict or str', value)
  const document = documentIn(value)
  if (document === undefined) throw invalidInput(key, 'valid JSON string', value)
  return document
}

function agreesAt(field: string, actual: Json, expected: Json): boolean {
  // nothing and null are the same here
  return equalLoosely(resolvePath(field, actual) ?? null, resolvePath(field, expected) ?? null)
}

function tooMuch(fields: number): HandlerFailure {
  return parameterProblem(
    'fields',
    `The documents are too large for ${fields} fields to be compared; send fewer, or ways to smaller parts.`,
  )
}

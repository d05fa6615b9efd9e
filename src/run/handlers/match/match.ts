import {
  fromEntries,
  getKey,
  getPath,
  type Json,
  type JsonObject,
  isJsonArray,
  isJsonObject,
  keysOf,
  type PlainObject,
} from '../../../base/json.ts'
import { TimeSlice } from '../../../base/scheduling.ts'
import { type HandlerFailure, missingParameter, parameterProblem } from '../handler-failure.ts'
import type { HandlerContext, HandlerDefinition, HandlerRequest } from '../handler.ts'
import { aggregate, readAggregation } from './aggregate.ts'
import { readMatchers } from './read-matchers.ts'
import { runMatchers } from './run-matchers.ts'
import { type BuiltInSchemas, DRAFT_2020_12, openObject } from '../../../registry/workflows.ts'

/**
 * The result of one test: `error` is null, or why the test failed to run. Callers close the schema of a leaf.
 */
const resultNode = {
  type: 'object',
  properties: {
    success: { type: 'boolean' },
    score: { type: 'number' },
    error: { type: ['string', 'null'] },
  },
  required: ['success', 'score'],
} as const satisfies PlainObject

/** How tests are summed up, at the root and in a test with tests within. */
const aggregation = {
  score: {
    type: 'string',
    enum: ['weighted', 'min', 'max'],
    default: 'weighted',
    title: 'Score',
    description: 'What the scores of the tests come to: their weighted mean, the lowest or the highest.',
  },
  success: {
    type: 'string',
    enum: ['all', 'any', 'threshold'],
    default: 'threshold',
    title: 'Passes when',
    description: 'All tests pass, any of them does, or the score reaches the threshold.',
  },
  threshold: {
    type: 'number',
    default: 1,
    title: 'Threshold',
    description: 'From 0 to 1: the lowest score that passes, such as 0.8.',
  },
} as const satisfies PlainObject

/**
 * The configurable matcher: a tree of tests on inputs, outputs and trace, and a tree of results of the same
 * shape.
 */
const matchSchemas: BuiltInSchemas = {
  parameters: {
    ...openObject(
      {
        matchers: {
          type: 'array',
          items: { $ref: '#/$defs/matcher' },
          title: 'Tests',
          description: 'Each tests one part of inputs, outputs or trace; their scores are summed up.',
        },
        ...aggregation,
      },
      ['matchers'],
    ),
    $defs: { matcher: matcher() },
  },
  outputs: {
    $schema: DRAFT_2020_12,
    type: 'object',
    properties: { score: { type: 'number' }, success: { type: 'boolean' } },
    required: ['score', 'success'],
    additionalProperties: { $ref: '#/$defs/result' },
    $defs: { result: { ...resultNode, additionalProperties: { $ref: '#/$defs/result' } } },
  },
}

function matcher(): PlainObject {
  return {
    type: 'object',
    properties: {
      key: { type: 'string', default: '', title: 'Name', description: 'Name of the result.' },
      target: {
        type: 'string',
        default: '',
        title: 'What is tested',
        description: 'Path to what is tested: $.outputs.city, /outputs/city.',
      },
      mode: {
        type: 'string',
        enum: ['text', 'json'],
        default: 'text',
        title: 'Valid as',
        description: 'What the test valid asks for: any text, or JSON.',
      },
      match: {
        type: 'string',
        enum: ['valid', 'exact', 'starts_with', 'ends_with', 'contains', 'regex', 'similarity', 'diff'],
        default: 'valid',
        title: 'Test',
        description: 'How it is compared: similarity scores texts from 0 to 1, and diff does it with JSON.',
      },
      reference: {
        title: 'Compare with',
        description: 'What to compare with: a value, or a path to one.',
      },
      references: {
        type: 'array',
        title: 'Texts to find',
        description: 'Several of them, for contains.',
      },
      contains: {
        type: 'string',
        enum: ['all', 'any'],
        default: 'all',
        title: 'How many to find',
        description: 'Whether all texts to find have to be there, or any one of them.',
      },
      case_sensitive: {
        type: 'boolean',
        default: true,
        title: 'Tell A from a',
        description: 'If off, Paris and paris are the same.',
      },
      similarity: {
        type: 'string',
        enum: ['jaccard', 'levenshtein', 'cosine'],
        default: 'jaccard',
        title: 'Measure of similarity',
        description:
          'By common stretches of text (jaccard), by how few characters differ (levenshtein), or by meaning (cosine, which asks a model).',
      },
      diff: {
        type: 'string',
        enum: ['full', 'schema', 'strict'],
        default: 'full',
        title: 'Measure of diff',
        description:
          'Compares values (full), only their types (schema), or values with no others beside them (strict).',
      },
      threshold: {
        ...aggregation.threshold,
        description: 'From 0 to 1: similarity, diff and tests within pass with at least this score.',
      },
      weight: {
        type: 'number',
        default: 1,
        title: 'Weight',
        description: 'How much it counts in a weighted score: 2 counts twice as much as 1, and 0 not at all.',
      },
      score: aggregation.score,
      success: aggregation.success,
      matchers: {
        type: 'array',
        items: { $ref: '#/$defs/matcher' },
        title: 'Tests within',
        description: 'Tests this one sums up.',
      },
    },
    additionalProperties: true,
  }
}

/**
 * The schema of a matcher tree's results; the root's own score and success override matchers of these names.
 */
function matchResults(matchers: Json | undefined): JsonObject | undefined {
  if (!isJsonArray(matchers) || matchers.length === 0) return undefined
  const own = { score: { type: 'number' }, success: { type: 'boolean' } }
  const properties = fromEntries([...children(matchers), ...Object.entries(own)])
  return {
    $schema: DRAFT_2020_12,
    type: 'object',
    properties,
    required: keysOf(properties),
    additionalProperties: false,
    $defs: { result: { ...resultNode, additionalProperties: false } },
  }
}

/** The results of matchers by key; one without a key is under "", and of equal keys the last counts. */
function children(matchers: readonly Json[]): [string, Json][] {
  return matchers.filter(isJsonObject).map((matcher) => {
    const key = getKey(matcher, 'key')
    const nested = getKey(matcher, 'matchers')
    const isLeaf = !isJsonArray(nested) || nested.length === 0
    return [typeof key === 'string' ? key : '', isLeaf ? { $ref: '#/$defs/result' } : nestedResult(nested)]
  })
}

/** A matcher with children: its own result and theirs. */
function nestedResult(matchers: readonly Json[]): JsonObject {
  const below = children(matchers)
  const properties = fromEntries([...Object.entries(resultNode.properties), ...below])
  return {
    type: 'object',
    properties,
    required: [...new Set([...resultNode.required, ...below.map(([key]) => key)])],
    additionalProperties: false,
  }
}

/**
 * `svc:builtin:match:v0` (interface 11.13): a tree of matchers over inputs, outputs and trace. Answers
 * `{<key>: node…, score, success}`: of matchers with the same key the last is shown, all count.
 */
export const match: HandlerDefinition = {
  key: 'match',
  kind: 'builtin',
  schemas: matchSchemas,
  computedOutputs: (parameters) => matchResults(getPath(parameters, 'matchers')),
  template: {
    name: 'Builtin Matcher',
    description:
      'Tests parts of inputs, outputs and trace, as text or as JSON, and sums the results up; tests can be nested and weighted.',
    roles: 'evaluator',
    categories: [],
  },
  example: {
    parameters: { matchers: [{ key: 'city', target: '$.outputs', match: 'contains', reference: 'Paris' }] },
    outputs: 'It is Paris.',
  },
  run,
}

async function run(request: HandlerRequest, context: HandlerContext): Promise<Json> {
  const { parameters } = request
  const list = getKey(parameters, 'matchers') ?? undefined
  if (list === undefined) throw missingParameter('matchers')
  const matchers = readMatchers(list, 'matchers')
  const aggregation = readAggregation(parameters, '')
  if (matchers.length === 0) return { score: 1, success: true }
  const results = await runMatchers(matchers, {
    document: documentOf(request),
    context,
    slice: new TimeSlice(undefined, tooMuch),
  })
  const { score, success } = aggregate(results, aggregation)
  const nodes = results.map(({ key, node }) => [key, node] as const)
  return fromEntries([...nodes, ['score', score], ['success', success]])
}

function documentOf({ inputs, outputs, trace }: HandlerRequest): JsonObject {
  return fromEntries(
    Object.entries({ inputs, outputs, trace }).flatMap(([name, value]) =>
      value === undefined || value === null ? [] : [[name, value] as const],
    ),
  )
}

function tooMuch(): HandlerFailure {
  return parameterProblem(
    'matchers',
    'These matchers take more than ten seconds; send fewer, or ones that look at less.',
  )
}

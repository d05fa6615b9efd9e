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

/**
 * The configurable matcher: a tree of tests on inputs, outputs and trace, and a tree of results of the same
 * shape.
 */
const matchSchemas: BuiltInSchemas = {
  parameters: {
    ...openObject(
      {
        matchers: { type: 'array', items: { $ref: '#/$defs/matcher' }, title: 'Tests' },
        score: { type: 'string', enum: ['weighted', 'min', 'max'], default: 'weighted' },
        success: { type: 'string', enum: ['all', 'any', 'threshold'], default: 'threshold' },
        threshold: { type: 'number', default: 1 },
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
      key: { type: 'string', default: '', description: 'Name of the result.' },
      target: {
        type: 'string',
        default: '',
        description: 'Path to what is tested: $.outputs.city, /outputs/city.',
      },
      mode: { type: 'string', enum: ['text', 'json'], default: 'text' },
      match: {
        type: 'string',
        enum: ['valid', 'exact', 'starts_with', 'ends_with', 'contains', 'regex', 'similarity', 'diff'],
        default: 'valid',
      },
      reference: { description: 'What to compare with: a value, or a path to one.' },
      references: { type: 'array', description: 'Several of them, for contains.' },
      contains: { type: 'string', enum: ['all', 'any'], default: 'all' },
      case_sensitive: { type: 'boolean', default: true },
      similarity: { type: 'string', enum: ['jaccard', 'levenshtein', 'cosine'], default: 'jaccard' },
      diff: { type: 'string', enum: ['full', 'schema', 'strict'], default: 'full' },
      threshold: { type: 'number', default: 1 },
      weight: { type: 'number', default: 1 },
      score: { type: 'string', enum: ['weighted', 'min', 'max'], default: 'weighted' },
      success: { type: 'string', enum: ['all', 'any', 'threshold'], default: 'threshold' },
      matchers: { type: 'array', items: { $ref: '#/$defs/matcher' }, description: 'Tests this one sums up.' },
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

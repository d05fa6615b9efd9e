import { fromEntries, getKey, type Json, type JsonObject } from '../../json/json.ts'
import { TimeSlice } from '../../scheduling/cooperative.ts'
import { parameterAt } from '../chosen-schema.ts'
import { type HandlerFailure, missingParameter, parameterProblem } from '../handler-failure.ts'
import type { HandlerContext, HandlerDefinition, HandlerRequest } from '../handler.ts'
import { aggregate, readAggregation } from './aggregate.ts'
import { matchResults, matchSchemas } from './match-schemas.ts'
import { readMatchers } from './read-matchers.ts'
import { runMatchers } from './run-matchers.ts'

/**
 * `svc:builtin:match:v0` (interface 11.13): a tree of matchers over inputs, outputs and trace. Answers `{<key>: node…, score,
 * success}`: of matchers with the same key the last is shown, all count.
 */
export const match: HandlerDefinition = {
  key: 'match',
  kind: 'builtin',
  schemas: matchSchemas,
  computedOutputs: (parameters) => matchResults(parameterAt(parameters, 'matchers')),
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

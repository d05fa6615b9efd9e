import { boundedJson } from '../../json/bounded-json.ts'
import { fromEntries, getKey, type Json, type JsonObject } from '../../json/json.ts'
import { resolvePath } from '../../prompts/templates/resolve-path.ts'
import { HandlerFailure } from '../handler-failure.ts'
import type { HandlerContext } from '../handler.ts'
import type { TimeSlice } from '../../scheduling/cooperative.ts'
import type { Verdict } from '../scoring/verdict.ts'
import { aggregate, readAggregation, readNumber } from './aggregate.ts'
import type { Matcher } from './read-matchers.ts'
import { runTest } from './run-test.ts'

/** What every matcher of one run looks at. */
export interface MatchRun {
  /** `{inputs?, outputs?, trace?}`. */
  readonly document: JsonObject
  readonly context: HandlerContext
  readonly slice: TimeSlice
}

/** What became of a matcher. */
export interface MatchResult extends Verdict {
  readonly key: string
  /** How much it counts among its siblings. */
  readonly weight: number
  /** As it is shown: `{success, score, error}` and the children's by their keys. */
  readonly node: JsonObject
}

/** The results of matchers, in their order (interface 11.13). What one of them has wrong is the `error` of its own node. */
export async function runMatchers(
  matchers: readonly Matcher[],
  run: MatchRun,
): Promise<readonly MatchResult[]> {
  const results: MatchResult[] = []
  for (const matcher of matchers) {
    results.push(await runMatcher(matcher, run))
    await run.slice.pause()
  }
  return results
}

async function runMatcher(matcher: Matcher, run: MatchRun): Promise<MatchResult> {
  const children = await runMatchers(matcher.children, run)
  let weight = 1
  let verdict: Verdict = { score: 0, success: false }
  let error: string | null = null
  try {
    weight = readWeight(matcher)
    verdict = await verdictOf(matcher, children, run)
  } catch (failure) {
    // Of a request that was given up there is no verdict.
    if (!(failure instanceof HandlerFailure) || run.context.signal.aborted) throw failure
    error = failure.message
  }
  const { score, success } = verdict
  return { key: matcher.key, weight, score, success, node: nodeOf({ success, score, error }, children) }
}

/** A negative weight, or an enormous one, would make the mean of scores something else than a score. */
function readWeight({ fields, path }: Matcher): number {
  const weight = readNumber(fields, 'weight', path)
  if (weight >= 0 && weight <= 1e100) return weight
  throw matchError(`The weight of a matcher is a number from 0 to 1e100, and ${path}weight is ${weight}.`)
}

async function verdictOf(
  { fields, path, children: { length } }: Matcher,
  children: readonly MatchResult[],
  run: MatchRun,
): Promise<Verdict> {
  const target = getKey(fields, 'target') ?? ''
  // a group needs no target; one that it names has to be there
  if (length > 0 && target === '') return aggregate(children, readAggregation(fields, path))
  const found = typeof target === 'string' ? resolvePath(target, run.document) : undefined
  if (found === undefined) {
    throw matchError(
      `Target resolution failed for ${boundedJson(target, 200)}: there is no such part of inputs, outputs and trace.`,
    )
  }
  if (length > 0) return aggregate(children, readAggregation(fields, path))
  return runTest({ ...run, fields, path, target: found })
}

/** A child of such a key does not hide what the node says of itself. */
function nodeOf(own: JsonObject, children: readonly MatchResult[]): JsonObject {
  const names: readonly (readonly [string, Json])[] = Object.entries(own)
  return fromEntries([...names, ...children.map(({ key, node }) => [key, node] as const), ...names])
}

function matchError(message: string): HandlerFailure {
  return new HandlerFailure('v0:workflows:match-error', message)
}

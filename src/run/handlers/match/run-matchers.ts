import {
  boundedJson,
  fromEntries,
  getKey,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  canonicalJson,
} from '../../../base/json.ts'
import { resolvePath } from '../../templates/resolve-path.ts'
import { HandlerFailure, invalidParameter, typeWord } from '../handler-failure.ts'
import type { HandlerContext } from '../handler.ts'
import type { TimeSlice } from '../../../base/scheduling.ts'
import { DOCUMENT, documentIn, isCaseSensitive, type Verdict, verdictOn } from '../scoring.ts'
import { aggregate, readAggregation, readNumber } from './aggregate.ts'
import type { Matcher } from './read-matchers.ts'
import { containsText } from '../metrics/contains-text.ts'
import { jsonDiff } from '../metrics/json-diff.ts'
import { scoreEmbeddings, USUAL_EMBEDDING_MODEL } from '../metrics/score-embeddings.ts'
import { scoreLevenshtein } from '../metrics/score-levenshtein.ts'
import { scoreSequence } from '../metrics/score-sequence.ts'
import { searchPattern } from '../worker/search-pattern.ts'
import { readChoice } from './read-choice.ts'

/** The input of every matcher in a run. */
export interface MatchRun {
  /** `{inputs?, outputs?, trace?}`. */
  readonly document: JsonObject
  readonly context: HandlerContext
  readonly slice: TimeSlice
}

/** The result of a matcher. */
export interface MatchResult extends Verdict {
  readonly key: string
  /** Its weight among its siblings. */
  readonly weight: number
  /** The result as shown: `{success, score, error}`, and the children's by key. */
  readonly node: JsonObject
}

/**
 * Runs matchers and returns their results in order (interface 11.13). A faulty matcher's error is the `error`
 * of its own node.
 */
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
    // An aborted request has no verdict.
    if (!(failure instanceof HandlerFailure) || run.context.untilGone().aborted) throw failure
    error = failure.message
  }
  const { score, success } = verdict
  return { key: matcher.key, weight, score, success, node: nodeOf({ success, score, error }, children) }
}

/** A negative or enormous weight would make the mean no valid score. */
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
  // a group needs no target; if it names one, the target must exist
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

/** The node's own members override children with the same key. */
function nodeOf(own: JsonObject, children: readonly MatchResult[]): JsonObject {
  const names: readonly (readonly [string, Json])[] = Object.entries(own)
  return fromEntries([...names, ...children.map(({ key, node }) => [key, node] as const), ...names])
}

function matchError(message: string): HandlerFailure {
  return new HandlerFailure('v0:workflows:match-error', message)
}

/** The test of a matcher without children. */
interface MatchTest {
  readonly fields: JsonObject
  /** The place of the fields, for messages. */
  readonly path: string
  readonly target: Json
  /** The document that references are resolved in. */
  readonly document: JsonObject
  readonly context: HandlerContext
  readonly slice: TimeSlice
}

const TESTS = [
  'valid',
  'exact',
  'starts_with',
  'ends_with',
  'contains',
  'regex',
  'similarity',
  'diff',
] as const
const SIMILARITIES = ['jaccard', 'levenshtein', 'cosine'] as const
const DIFFS = ['full', 'schema', 'strict'] as const
const QUANTITIES = ['all', 'any'] as const

/**
 * Runs a test from the table in interface 11.13. Throws a `HandlerFailure` for invalid fields and failed
 * computations.
 */
async function runTest(test: MatchTest): Promise<Verdict> {
  const { fields, path } = test
  switch (readChoice(fields, 'match', TESTS, 'valid', path)) {
    case 'valid':
      return binary(isValid(test))
    case 'exact':
      return binary(comparedText(test, test.target) === comparedText(test, referenceOf(test)))
    case 'starts_with':
      return binary(comparedText(test, test.target).startsWith(comparedText(test, referenceOf(test))))
    case 'ends_with':
      return binary(comparedText(test, test.target).endsWith(comparedText(test, referenceOf(test))))
    case 'contains':
      return binary(await contains(test))
    case 'regex':
      return binary(
        await searchPattern(
          textOfAny(referenceOf(test)),
          isCaseSensitive(fields),
          textOfAny(test.target),
          test.context,
        ),
      )
    case 'similarity':
      return graded(test, await similarity(test))
    case 'diff':
      return graded(test, await diff(test))
  }
}

function binary(success: boolean): Verdict {
  return { score: success ? 1 : 0, success }
}

function graded({ fields, path }: MatchTest, score: number): Verdict {
  return verdictOn(score, readNumber(fields, 'threshold', path))
}

function isValid({ fields, target }: MatchTest): boolean {
  const mode = getKey(fields, 'mode') ?? 'text'
  if (mode === 'text') return typeof target === 'string'
  if (mode !== 'json') return false
  return typeof target === 'string' ? parsesAsJson(target) : typeof target === 'object' && isTree(target)
}

function isTree(value: Json): value is JsonObject | readonly Json[] {
  return isJsonObject(value) || isJsonArray(value)
}

/**
 * The value of `reference`: a part of the document if it is JSONPath or a pointer that matches, else itself.
 */
function referenceOf({ fields, document }: MatchTest): Json {
  return resolved(getKey(fields, 'reference') ?? null, document)
}

function resolved(reference: Json, document: JsonObject): Json {
  if (typeof reference !== 'string' || !/^(?:\$[.[]|\$$|\/)/.test(reference)) return reference
  return resolvePath(reference, document) ?? reference
}

/** Whether all or any of `references` are contained; without these, the one `reference`. */
async function contains(test: MatchTest): Promise<boolean> {
  const { fields, path, document, slice } = test
  const wanted = readChoice(fields, 'contains', QUANTITIES, 'all', path) === 'any'
  const references = getKey(fields, 'references') ?? []
  if (!isJsonArray(references)) throw invalidParameter(`${path}references`, 'list', references)
  const text = comparedText(test, test.target)
  if (references.length === 0) return containsText(text, comparedText(test, referenceOf(test)))
  for (const reference of references) {
    if (containsText(text, comparedText(test, resolved(reference, document))) === wanted) return wanted
    await slice.pause()
  }
  return !wanted
}

async function similarity(test: MatchTest): Promise<number> {
  const { fields, path } = test
  const measure = readChoice(fields, 'similarity', SIMILARITIES, 'jaccard', path)
  const reference = referenceOf(test)
  if (measure === 'cosine') {
    const texts = [textOfAny(test.target), textOfAny(reference)] as const
    return scoreEmbeddings(USUAL_EMBEDDING_MODEL, texts, test.context)
  }
  const score = measure === 'jaccard' ? scoreSequence : scoreLevenshtein
  return score(comparedText(test, test.target), comparedText(test, reference), test.context)
}

async function diff(test: MatchTest): Promise<number> {
  const { fields, path, target, slice } = test
  const kind = readChoice(fields, 'diff', DIFFS, 'full', path)
  const reference = referenceOf(test)
  const [expected, actual] = [documentIn(reference), documentIn(target)]
  if (expected === undefined) throw noDocument('reference', reference)
  if (actual === undefined) throw noDocument('target', target)
  const options = {
    comparesTypesOnly: kind === 'schema',
    countsExtraLeaves: kind === 'strict',
    ignoresKeyCase: !isCaseSensitive(fields),
  }
  return jsonDiff(expected, actual, options, slice)
}

function noDocument(what: string, value: Json): HandlerFailure {
  return new HandlerFailure(
    'v0:workflows:match-error',
    `diff compares documents (${DOCUMENT}), and the ${what} is ('${typeWord(value)}') ${boundedJson(value, 200)}.`,
  )
}

/** Lowercased if case is ignored. */
function comparedText({ fields }: MatchTest, value: Json): string {
  return isCaseSensitive(fields) ? textOfAny(value) : textOfAny(value).toLowerCase()
}

/** Strings unchanged, null as an empty text, `True` and `False`, else RFC 8785. */
function textOfAny(value: Json): string {
  if (typeof value === 'string') return value
  if (value === null) return ''
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  return canonicalJson(value)
}

/**
 * Whether a text is JSON, even if this service could not store it: keys may repeat, and `NaN` and `Infinity`
 * count as numbers, as many JSON writers allow (interface 11.3).
 */
export function parsesAsJson(text: string): boolean {
  return isJson(text) || (/NaN|Infinity/.test(text) && isJson(withoutNonNumbers(text)))
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Replaces each with 0, except inside strings. */
function withoutNonNumbers(text: string): string {
  let done = ''
  let start = 0
  let isInside = false
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at)
    if (isInside && char === '\\') at++
    else if (char === '"') {
      done += isInside ? text.slice(start, at) : zeroed(text.slice(start, at))
      start = at
      isInside = !isInside
    }
  }
  return isInside ? text : done + zeroed(text.slice(start))
}

function zeroed(text: string): string {
  return text.replaceAll(/(?<![\w.-])(?:NaN|-?Infinity)(?![\w.])/g, '0')
}

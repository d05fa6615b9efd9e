import { boundedJson } from '../../json/bounded-json.ts'
import { canonicalJson } from '../../json/canonical-json.ts'
import { getKey, isJsonArray, isJsonObject, type Json, type JsonObject } from '../../json/json.ts'
import { resolvePath } from '../../prompts/templates/resolve-path.ts'
import { HandlerFailure, invalidParameter, typeWord } from '../handler-failure.ts'
import type { HandlerContext } from '../handler.ts'
import { containsText } from '../metrics/contains-text.ts'
import type { TimeSlice } from '../../scheduling/cooperative.ts'
import { jsonDiff } from '../metrics/json-diff.ts'
import { parsesAsJson } from '../metrics/parses-as-json.ts'
import { scoreEmbeddings, USUAL_EMBEDDING_MODEL } from '../metrics/score-embeddings.ts'
import { scoreLevenshtein } from '../metrics/score-levenshtein.ts'
import { scoreSequence } from '../metrics/score-sequence.ts'
import { searchPattern } from '../worker/search-pattern.ts'
import { DOCUMENT, documentIn } from '../scoring/document-in.ts'
import { isCaseSensitive } from '../scoring/is-case-sensitive.ts'
import { type Verdict, verdictOn } from '../scoring/verdict.ts'
import { readNumber } from './aggregate.ts'
import { readChoice } from './read-choice.ts'

/** What a matcher without children is to find out of its target. */
export interface MatchTest {
  readonly fields: JsonObject
  /** Where they stand, for messages. */
  readonly path: string
  readonly target: Json
  /** What references are looked up in. */
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

/** The table of interface 11.13. Throws a `HandlerFailure` for what the fields have wrong and for what cannot be computed. */
export async function runTest(test: MatchTest): Promise<Verdict> {
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

/** What `reference` says: a part of the document where it is JSONPath or a pointer that leads to one, else itself. */
function referenceOf({ fields, document }: MatchTest): Json {
  return resolved(getKey(fields, 'reference') ?? null, document)
}

function resolved(reference: Json, document: JsonObject): Json {
  if (typeof reference !== 'string' || !/^(?:\$[.[]|\$$|\/)/.test(reference)) return reference
  return resolvePath(reference, document) ?? reference
}

/** All or any of `references`; where there are none, the one `reference`. */
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

/** In lower case where case does not count. */
function comparedText({ fields }: MatchTest, value: Json): string {
  return isCaseSensitive(fields) ? textOfAny(value) : textOfAny(value).toLowerCase()
}

/** Strings as they are, nothing for null, `True` and `False`, else RFC 8785. */
function textOfAny(value: Json): string {
  if (typeof value === 'string') return value
  if (value === null) return ''
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  return canonicalJson(value)
}

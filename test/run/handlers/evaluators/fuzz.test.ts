import { expect } from 'chai'
import fc from 'fast-check'
import { builtInHandlers } from '../../../../src/run/handlers/built-in-handlers.ts'
import { HandlerFailure } from '../../../../src/run/handlers/handler-failure.ts'
import { canonicalJson } from '../../../../src/base/json/canonical-json.ts'
import { entriesOf, fromEntries, type Json, type JsonObject } from '../../../../src/base/json/json.ts'
import { ModelFailure } from '../../../../src/run/models/models.ts'
import { arbitraryJson } from '../../../support/values/arbitrary-json.ts'
import { runEvaluator, type Embed, type Given } from './run-evaluator.ts'

/** Texts that are something to an evaluator more often than random ones are. */
const arbitraryText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.constantFrom(
    '',
    'Oslo',
    'oslo',
    '(a+)+$',
    '[',
    '(?i)o',
    '$.a',
    '$..*',
    '/a/0',
    'a.b.0',
    '{"a": 1}',
    '[1]',
    'NaN',
    '0.5',
    '$[',
  ),
  arbitraryJson.map(canonicalJson),
)

const arbitraryValue: fc.Arbitrary<Json> = fc.oneof(
  arbitraryText,
  arbitraryJson,
  fc.array(arbitraryText, { maxLength: 4 }),
)

/** Such a value, nine times of ten; else any. */
function mostly(arbitrary: fc.Arbitrary<Json>): fc.Arbitrary<Json> {
  return fc.oneof({ weight: 9, arbitrary }, { weight: 1, arbitrary: arbitraryValue })
}

/** An object with members of these names, each of them in nine cases of ten. */
function withMembers(names: readonly string[], value: fc.Arbitrary<Json>): fc.Arbitrary<JsonObject> {
  return fc
    .tuple(
      ...names.map((name) => fc.option(fc.tuple(fc.constant(name), value), { nil: undefined, freq: 10 })),
    )
    .map((members) => fromEntries(members.filter((member) => member !== undefined)))
}

const arbitraryMatcher = fc.letrec<{ matcher: Json }>((tie) => ({
  matcher: fc
    .tuple(
      withMembers(['reference', 'references', 'case_sensitive', 'threshold', 'weight'], arbitraryValue),
      withMembers(
        ['match', 'similarity', 'diff', 'contains', 'score', 'success', 'mode'],
        fc.constantFrom<Json>(
          ...['valid', 'exact', 'starts_with', 'ends_with', 'contains', 'regex', 'similarity', 'diff'],
          ...['levenshtein', 'cosine', 'strict', 'schema', 'any', 'all', 'min', 'json'],
          null,
        ),
      ),
      withMembers(['key'], fc.oneof({ weight: 30, arbitrary: arbitraryText }, arbitraryJson)),
      withMembers(['target'], fc.constantFrom('outputs', 'inputs', 'outputs.a', '$..*', '/trace', '$')),
      fc.option(fc.array(tie('matcher'), { maxLength: 2 }), { nil: undefined, depthSize: 'small' }),
    )
    .map(([texts, choices, key, target, children]) =>
      fromEntries([
        ...[texts, choices, key, target].flatMap(entriesOf),
        ...(children === undefined ? [] : [['matchers', children] as const]),
      ]),
    ),
})).matcher

/** Parameters of every evaluator: their names, and what they are when they are not just anything. */
const arbitraryParameters = fc
  .tuple(
    withMembers(
      ['regex_pattern', 'prefix', 'suffix', 'substring', 'json_field', 'embedding_model'],
      mostly(arbitraryText),
    ),
    withMembers(['fields', 'substrings'], mostly(fc.array(arbitraryText, { minLength: 1, maxLength: 4 }))),
    withMembers(['matchers'], mostly(fc.array(arbitraryMatcher, { maxLength: 3 }))),
    withMembers(
      [
        'case_sensitive',
        'regex_should_match',
        'predict_keys',
        'compare_schema_only',
        'case_insensitive_keys',
      ],
      mostly(fc.boolean()),
    ),
    withMembers(['threshold', 'similarity_threshold'], mostly(fc.constantFrom(0, 0.5, 1))),
    withMembers(['correct_answer_key'], mostly(fc.constant('correct_answer'))),
    withMembers(['score', 'success'], mostly(fc.constant(null))),
  )
  .map((parts) => fromEntries(parts.flatMap(entriesOf)))

const arbitraryObject = fc
  .array(fc.tuple(fc.constantFrom('a', 'b', 'c', 'a.b'), arbitraryJson), { maxLength: 4 })
  .map(fromEntries)

const arbitraryDocument = mostly(fc.oneof(arbitraryText, arbitraryObject, arbitraryObject.map(canonicalJson)))

const arbitraryGiven: fc.Arbitrary<Given> = fc.record({
  parameters: arbitraryParameters,
  inputs: fc.option(withMembers(['correct_answer', 'aloha'], arbitraryDocument), {
    nil: undefined,
    freq: 10,
  }),
  outputs: fc.option(arbitraryDocument, { nil: undefined, freq: 10 }),
  trace: fc.option(arbitraryObject, { nil: undefined }),
})

/** A model that now and then answers nonsense, or does not. */
const embed: Embed = async ({ texts }) => {
  const length = texts.join('').length
  if (length % 5 === 0) throw new ModelFailure('availability', 'It is away.')
  return texts.map((text) => Array.from({ length: length % 3 }, (_, at) => text.charCodeAt(at) || 0))
}

/** What computes its outputs by itself, without a model, a script or somebody else's server. */
const COMPUTED = [...builtInHandlers.keys()].filter(
  (key) =>
    /^(auto_|echo$|match$|field_match_test$|json_multi_field_match$)/.test(key) &&
    !['auto_ai_critique', 'auto_custom_code_run', 'auto_webhook_test'].includes(key),
)

describe('handlers: evaluators on anything', () => {
  for (const key of COMPUTED) {
    it(`${key} answers results that are JSON, or fails as a handler does`, async () => {
      let results = 0
      await fc.assert(
        fc.asyncProperty(arbitraryGiven, async (given) => {
          try {
            canonicalJson(await runEvaluator(key, given, embed))
            results++
          } catch (error) {
            if (!(error instanceof HandlerFailure)) throw error
            expect(error.status).to.be.oneOf([400, 424])
          }
        }),
        { numRuns: 300 },
      )
      expect(results).to.be.greaterThan(60)
    })
  }
})

import { expect } from 'chai'
import { HandlerFailure } from '../../../../src/run/handlers/handler-failure.ts'
import { builtInHandlers } from '../../../../src/run/handlers/built-in-handlers.ts'
import { getKey, isJsonObject, type Json, type JsonObject } from '../../../../src/base/json/json.ts'
import {
  exact,
  exactObject,
  failureOf,
  runEvaluator,
  type Embed,
  type Given,
} from '../evaluators/run-evaluator.ts'
import { handlerContext, handlerRequest } from '../handler-context.ts'

const match = builtInHandlers.get('match') ?? expect.fail('there is no match')

/** What the matchers look at. */
const SEEN: Given = {
  inputs: { country: 'Norway', capital: 'Oslo', path: '/nowhere' },
  outputs: exactObject(
    '{"capital": "Oslo", "people": 717710, "share": 1.0, "none": null, "sure": true, "tags": ["a", "b"], "json": "{\\"a\\": 1}", "Case": 1}',
  ),
  trace: { spans: { root: { name: 'run' } } },
}

describe('handlers: match', () => {
  const run = (parameters: JsonObject, given = SEEN, embed?: Embed): Promise<Json> =>
    runEvaluator('match', { ...given, parameters }, embed)

  /** The node of one matcher, by itself. */
  const nodeOf = async (matcher: JsonObject, embed?: Embed): Promise<JsonObject> => {
    const result = await run({ matchers: [{ key: 'it', ...matcher }] }, SEEN, embed)
    const node = isJsonObject(result) ? getKey(result, 'it') : undefined
    if (!isJsonObject(node)) throw new Error('there is no node')
    return node
  }

  describe('one matcher', () => {
    const table: readonly [matcher: JsonObject, score: number, success?: boolean][] = [
      [{ target: 'outputs.capital' }, 1],
      [{ target: '$.outputs.capital', mode: 'text' }, 1],
      [{ target: '/outputs/capital', match: 'valid' }, 1],
      [{ target: 'outputs' }, 0],
      [{ target: 'outputs.people' }, 0],
      [{ target: 'outputs', mode: 'json' }, 1],
      [{ target: '$.outputs', mode: 'json' }, 1],
      [{ target: 'outputs.tags', mode: 'json' }, 1],
      [{ target: 'outputs.json', mode: 'json' }, 1],
      [{ target: 'outputs.capital', mode: 'json' }, 0],
      [{ target: 'outputs.people', mode: 'json' }, 0],
      [{ target: 'outputs.none', mode: 'json' }, 0],
      [{ target: 'outputs.capital', mode: 'xml' }, 0],
      [{ target: 'trace.spans.root.name', match: 'exact', reference: 'run' }, 1],

      [{ target: 'outputs.capital', match: 'exact', reference: 'Oslo' }, 1],
      [{ target: 'outputs.capital', match: 'exact', reference: 'oslo' }, 0],
      [{ target: 'outputs.capital', match: 'exact', reference: 'oslo', case_sensitive: false }, 1],
      [{ target: 'outputs.capital', match: 'exact', reference: '$.inputs.capital' }, 1],
      [{ target: 'outputs.capital', match: 'exact', reference: '/inputs/capital' }, 1],
      [{ target: 'inputs.country', match: 'exact', reference: '$.inputs.nowhere' }, 0],
      [{ target: 'inputs.path', match: 'exact', reference: '/nowhere' }, 1],
      [{ target: 'outputs.tags', match: 'exact', reference: ['a', 'b'] }, 1],
      [{ target: 'outputs.tags', match: 'exact', reference: '["a","b"]' }, 1],
      [{ target: 'outputs.people', match: 'exact', reference: '717710' }, 1],
      [{ target: 'outputs.share', match: 'exact', reference: '1.0' }, 1],
      [{ target: 'outputs.sure', match: 'exact', reference: 'True' }, 1],
      [{ target: 'outputs.none', match: 'exact', reference: '' }, 1],
      [{ target: 'outputs.none', match: 'exact' }, 1],
      [{ target: 'outputs', match: 'exact', reference: '$.outputs' }, 1],
      [{ target: 'outputs.capital', match: 'starts_with', reference: 'Os' }, 1],
      [{ target: 'outputs.capital', match: 'starts_with', reference: 'lo' }, 0],
      [{ target: 'outputs.capital', match: 'ends_with', reference: 'LO', case_sensitive: 0 }, 1],
      [{ target: 'outputs.tags', match: 'starts_with', reference: '["a"' }, 1],

      [{ target: 'outputs.capital', match: 'contains' }, 1],
      [{ target: 'outputs.capital', match: 'contains', reference: 'sl' }, 1],
      [{ target: 'outputs.capital', match: 'contains', references: [], reference: 'x' }, 0],
      [{ target: 'outputs.capital', match: 'contains', references: ['O', 'lo'], reference: 'x' }, 1],
      [{ target: 'outputs.capital', match: 'contains', references: ['O', 'x'] }, 0],
      [{ target: 'outputs.capital', match: 'contains', references: ['O', 'x'], contains: 'any' }, 1],
      [{ target: 'outputs.capital', match: 'contains', references: ['x', 'y'], contains: 'any' }, 0],
      [{ target: 'outputs.capital', match: 'contains', references: ['$.inputs.capital'] }, 1],
      [
        { target: 'outputs', match: 'contains', references: [717710, true, 'OSLO'], case_sensitive: false },
        1,
      ],

      [{ target: 'outputs.capital', match: 'regex', reference: 'sl.$' }, 1],
      [{ target: 'outputs.capital', match: 'regex', reference: '^sl' }, 0],
      [{ target: 'outputs.capital', match: 'regex', reference: '^oslo', case_sensitive: false }, 1],
      [{ target: 'outputs.capital', match: 'regex', reference: '(?i)^oslo' }, 1],
      [{ target: 'outputs.people', match: 'regex', reference: '^[0-9]{6}$' }, 1],
      [{ target: 'outputs.capital', match: 'regex', reference: '$' }, 0],
      [{ target: 'outputs.capital', match: 'regex' }, 1],

      [{ target: 'outputs.capital', match: 'similarity', reference: 'Osla' }, 0.75, false],
      [{ target: 'outputs.capital', match: 'similarity', reference: 'Osla', threshold: 0.75 }, 0.75, true],
      [{ target: 'outputs.capital', match: 'similarity', reference: 'Osla', threshold: '0.75' }, 0.75, true],
      [{ target: 'outputs.capital', match: 'similarity', reference: 'Oslo' }, 1],
      [{ target: 'outputs.capital', match: 'similarity', reference: 'OSLO', case_sensitive: false }, 1],
      [
        { target: 'outputs.capital', match: 'similarity', similarity: 'levenshtein', reference: 'lo' },
        0.5,
        false,
      ],

      [{ target: 'outputs.json', match: 'diff', reference: { a: 1 } }, 1],
      [{ target: 'outputs.json', match: 'diff', reference: '{"a": 1, "b": 2}' }, 0.5, false],
      [{ target: 'outputs.json', match: 'diff', reference: '{"a": 1, "b": 2}', threshold: 0.5 }, 0.5, true],
      [{ target: 'outputs.json', match: 'diff', diff: 'schema', reference: { a: 7 } }, 1],
      [{ target: 'outputs', match: 'diff', reference: { sure: 1 } }, 1],
      [{ target: 'outputs', match: 'diff', diff: 'strict', reference: { sure: 1 } }, 1 / 9, false],
      [{ target: 'outputs', match: 'diff', reference: { case: 1 } }, 0],
      [{ target: 'outputs', match: 'diff', reference: { case: 1 }, case_sensitive: false }, 1],
      [{ target: 'outputs.tags', match: 'diff', reference: ['a', 'b'] }, 1],
    ]
    for (const [matcher, score, success = score === 1] of table) {
      it(JSON.stringify(matcher), async () => {
        expect(await nodeOf(matcher)).to.deep.equal({ success, score, error: null })
      })
    }
  })

  it('cosine is that of the usual embedding model', async () => {
    const matcher = {
      target: 'outputs.capital',
      match: 'similarity',
      similarity: 'cosine',
      reference: 'Bergen',
      threshold: 0.5,
    }
    const node = await nodeOf(matcher, async ({ model, texts }) => {
      expect([model, texts]).to.deep.equal(['text-embedding-3-small', ['Oslo', 'Bergen']])
      return [
        [3, 4],
        [4, 3],
      ]
    })
    expect(node).to.deep.equal({ success: true, score: 0.96, error: null })
  })

  describe('what a matcher has wrong is the error of its node', () => {
    const table: readonly [matcher: JsonObject, error: string][] = [
      [{}, 'Target resolution failed for ""'],
      [{ target: 'outputs.nowhere' }, 'Target resolution failed for "outputs.nowhere"'],
      [{ target: '$.outputs[' }, 'Target resolution failed for'],
      [{ target: 'parameters.x' }, 'Target resolution failed for'],
      [{ target: 5 }, 'Target resolution failed for 5'],
      [
        { target: 'outputs', match: 'same' },
        'valid, exact, starts_with, ends_with, contains, regex, similarity, diff',
      ],
      [{ target: 'outputs', match: 'similarity', similarity: 'soundex' }, 'jaccard, levenshtein, cosine'],
      [{ target: 'outputs', match: 'similarity', similarity: 'cosine' }, 'No API key found for model'],
      [{ target: 'outputs', match: 'diff', diff: 'half' }, 'full, schema, strict'],
      [{ target: 'outputs.capital', match: 'diff', reference: { a: 1 } }, 'the target is (\'str\') "Oslo"'],
      [{ target: 'outputs.people', match: 'diff', reference: { a: 1 } }, "the target is ('int') 717710"],
      [{ target: 'outputs', match: 'diff', reference: 717710 }, "the reference is ('int') 717710"],
      [{ target: 'outputs', match: 'contains', contains: 'some' }, 'all, any'],
      [{ target: 'outputs', match: 'contains', references: 'x' }, "At 'matchers[0].references'"],
      [{ target: 'outputs', match: 'regex', reference: '(' }, "'('"],
      [{ target: 'outputs', match: 'similarity', threshold: 'much' }, "At 'matchers[0].threshold'"],
      [{ target: 'outputs', weight: 'much' }, "At 'matchers[0].weight'"],
      [{ target: 'outputs', weight: -1 }, 'matchers[0].weight is -1'],
      [{ matchers: [{ key: 'a', target: 'outputs' }], score: 'mean' }, 'weighted, min, max'],
      [{ matchers: [{ key: 'a', target: 'outputs' }], success: 'most' }, 'all, any, threshold'],
    ]
    for (const [matcher, error] of table) {
      it(JSON.stringify(matcher), async () => {
        const node = await nodeOf(matcher)
        expect(getKey(node, 'error')).to.contain(error)
        expect(node).to.include({ success: false, score: 0 })
      })
    }
  })

  describe('the tree', () => {
    const yes = { target: 'outputs.capital' }
    const no = { target: 'outputs.people' }
    const half = {
      target: 'outputs.capital',
      match: 'similarity',
      similarity: 'levenshtein',
      reference: 'lo',
      threshold: 0.5,
    }
    const verdictOf = async (parameters: JsonObject): Promise<JsonObject> => {
      const result = await run(parameters)
      if (!isJsonObject(result)) throw new Error('there is no result')
      return { score: getKey(result, 'score') ?? null, success: getKey(result, 'success') ?? null }
    }

    it('without matchers it is a success', async () => {
      expect(await run({ matchers: [] })).to.deep.equal({ score: 1, success: true })
    })

    const verdicts: readonly [parameters: JsonObject, score: number, success: boolean][] = [
      [{ matchers: [yes, no] }, 0.5, false],
      [{ matchers: [yes, yes] }, 1, true],
      [{ matchers: [half] }, 0.5, false],
      [{ matchers: [half], success: 'all' }, 0.5, true],
      [{ matchers: [yes, no], success: 'all' }, 0.5, false],
      [{ matchers: [yes, no], success: 'any' }, 0.5, true],
      [{ matchers: [no, no], success: 'any' }, 0, false],
      [{ matchers: [yes, no], threshold: 0.5 }, 0.5, true],
      [{ matchers: [yes, no], threshold: '.5' }, 0.5, true],
      [{ matchers: [yes, no], threshold: null }, 0.5, false],
      [{ matchers: [{ ...yes, weight: 3 }, no] }, 0.75, false],
      [{ matchers: [{ ...yes, weight: '3' }, no] }, 0.75, false],
      [{ matchers: [{ ...yes, weight: 0 }] }, 0, false],
      [{ matchers: [yes, half, no], score: 'min' }, 0, false],
      [{ matchers: [yes, half, no], score: 'max' }, 1, true],
      [
        {
          matchers: [
            { ...yes, weight: 1e100 },
            { ...yes, weight: 1e100 },
          ],
        },
        1,
        true,
      ],
    ]
    for (const [parameters, score, success] of verdicts) {
      it(`${JSON.stringify(parameters)} is ${score}`, async () => {
        expect(await verdictOf(parameters)).to.deep.equal({ score, success })
      })
    }

    // interface 11.13
    it('shows the results of children in the node of a group, whose own test does not count', async () => {
      const group: JsonObject = {
        key: 'group',
        match: 'regex',
        reference: '(',
        success: 'any',
        matchers: [
          { key: 'good', ...yes },
          { key: 'inner', score: 'max', matchers: [{ key: 'half', ...half }] },
        ],
      }
      expect(await run({ matchers: [group] })).to.deep.equal({
        group: {
          success: true,
          score: 0.75,
          error: null,
          good: { success: true, score: 1, error: null },
          inner: {
            success: false,
            score: 0.5,
            error: null,
            half: { success: true, score: 0.5, error: null },
          },
        },
        score: 0.75,
        success: false,
      })
    })

    it('a group whose target is not there fails, and shows its children', async () => {
      const node = await nodeOf({ target: 'outputs.nowhere', matchers: [{ key: 'good', ...yes }] })
      expect(node).to.deep.include({
        success: false,
        score: 0,
        good: { success: true, score: 1, error: null },
      })
      expect(getKey(node, 'error')).to.contain('Target resolution failed for')
      expect(await nodeOf({ target: 'outputs', matchers: [yes] })).to.include({ success: true, score: 1 })
    })

    it('of two with one key the later is shown, and both count; one without a key is shown under none', async () => {
      const matchers = [{ key: 'a', ...yes }, { key: 'a', ...no }, yes]
      expect(await run({ matchers })).to.deep.equal({
        a: { success: false, score: 0, error: null },
        '': { success: true, score: 1, error: null },
        score: 2 / 3,
        success: false,
      })
    })

    it('keys do not hide what a node or the whole says of itself; any key will do', async () => {
      const matchers: Json = [
        { key: 'score', ...yes },
        { key: '__proto__', matchers: [{ key: 'error', ...yes }] },
      ]
      expect(await run({ matchers })).to.deep.equal(
        exact('{"score": 1, "__proto__": {"success": true, "score": 1, "error": null}, "success": true}'),
      )
    })

    it('looks at what there is', async () => {
      const matchers = [{ key: 'it', target: '$', match: 'exact', reference: '{"outputs":"x"}' }]
      expect(await run({ matchers }, { outputs: 'x' })).to.include({ success: true })
    })
  })

  it('is no verdict once its request was given up: what was not looked at is not called a failure', async () => {
    const matchers = [{ key: 'it', target: 'outputs', match: 'regex', reference: '(a+)+$' }]
    const request = handlerRequest({ parameters: { matchers }, outputs: `${'a'.repeat(60)}!` })
    const context = handlerContext({}, { untilGone: () => AbortSignal.abort() })
    const failure = await Promise.resolve(match(request, context)).catch((error: unknown) => error)
    expect(failure)
      .to.be.instanceOf(HandlerFailure)
      .with.property('message')
      .that.contains('the request ended before the search')
  })

  describe('what the parameters have wrong', () => {
    const table: readonly [parameters: JsonObject, id: string, at: string][] = [
      [{}, 'missing-parameter', "At 'matchers'"],
      [{ matchers: null }, 'missing-parameter', "At 'matchers'"],
      [{ matchers: { a: 1 } }, 'invalid-parameter', "Expected 'list'"],
      [{ matchers: [{}, 5] }, 'invalid-parameter', "At 'matchers[1]'"],
      [{ matchers: [{ key: 5 }] }, 'invalid-parameter', "At 'matchers[0].key'"],
      [{ matchers: [{ matchers: 5 }] }, 'invalid-parameter', "At 'matchers[0].matchers'"],
      [{ matchers: [{ matchers: [[]] }] }, 'invalid-parameter', "At 'matchers[0].matchers[0]'"],
      [{ matchers: [], threshold: 'much' }, 'invalid-parameter', "At 'threshold'"],
      [{ matchers: [], threshold: true }, 'invalid-parameter', "At 'threshold'"],
      [{ matchers: [], score: 'mean' }, 'invalid-parameter', "At 'score'"],
      [{ matchers: [], success: 'most' }, 'invalid-parameter', "At 'success'"],
    ]
    for (const [parameters, id, at] of table) {
      it(`${JSON.stringify(parameters)} fails with ${id}`, async () => {
        const failure = await failureOf('match', { ...SEEN, parameters })
        expect(failure.id).to.equal(`v0:schemas:${id}`)
        expect(failure.message).to.contain(at)
      })
    }
  })
})

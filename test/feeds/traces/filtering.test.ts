import { expect } from 'chai'
import fc from 'fast-check'
import { Refusal } from '../../../src/errors.ts'
import { ExactNumber, type Json } from '../../../src/base/json/json.ts'
import { parseJson } from '../../../src/base/json/parse-json.ts'
import { stringifyJson } from '../../../src/base/json/stringify-json.ts'
import { readTraceFilter, isLike } from '../../../src/feeds/traces/filter/trace-filter.ts'
import { traceQuestion } from '../../../src/feeds/traces/query/trace-page.ts'
import { makeSpan, NOON, spanWith } from '../../support/values/make-span.ts'
import { overEachEngine } from './engines/over-each-engine.ts'
import type { TraceProject } from './trace-project.ts'

const LINKED = { traceId: 'ab'.repeat(16), spanId: 'cd'.repeat(8) }

/** The spans that every question below is asked of, by name. */
const SPANS = {
  plain: makeSpan({
    name: 'Plain',
    startTime: NOON,
    traceId: '0123456789abcdef0123456789abcdef',
    spanId: '0123456789abcdef',
  }),
  paris: spanWith(
    {
      inputs: { country: 'France', 'a.b': { c: 1 } },
      outputs: {
        score: 0.5,
        tags: ['Red', 'blue'],
        text: 'Été à Paris',
        rows: [{ id: 1 }, { id: 2, x: 'y' }],
        big: new ExactNumber('12345678901234567890'),
      },
    },
    {
      name: 'paris',
      startTime: NOON + 1000,
      sessionId: 'S-1',
      type: 'llm',
      references: new Map([
        ['workflow_revision', { id: 'a0000000-0000-7000-8000-000000000001', slug: 'bot-3', version: '3' }],
        ['environment', { slug: 'production' }],
      ]),
    },
  ),
  failed: makeSpan({
    name: 'failed',
    startTime: NOON + 2000,
    parentId: 'f'.repeat(16),
    traceType: 'annotation',
    statusCode: 'STATUS_CODE_ERROR',
    statusMessage: 'Rate limit',
    attributes: { svc: {} },
    references: new Map([['workflow_revision', { slug: 'bot-7', version: 7 }]]),
    links: new Map([['invocation', LINKED]]),
    exception: { type: 'RateLimit', message: 'Rate limit', stacktrace: undefined },
  }),
}

const PARIS = ['paris']
const FAILED = ['failed']
const NONE: string[] = []
const at = (key: string, operator: string, value?: Json, options?: object): object => ({
  field: 'attributes',
  key: `svc.data.${key}`,
  operator,
  ...(value === undefined ? {} : { value }),
  ...(options ? { options } : {}),
})
const referenceAt = (key: string, operator: string, value?: Json): object => ({
  field: 'attributes',
  key: `svc.references.${key}`,
  operator,
  ...(value === undefined ? {} : { value }),
})

/** A condition, and the names of the spans that it is true of. */
const CASES: readonly (readonly [object, readonly string[]])[] = [
  [{ field: 'trace_id', value: SPANS.plain.traceId }, ['Plain']],
  [{ field: 'trace_id', value: '01234567-89AB-cdef-0123-456789abcdef' }, ['Plain']],
  [
    { field: 'trace_id', operator: 'in', value: [`0x${SPANS.plain.traceId}`, SPANS.failed.traceId] },
    ['Plain', 'failed'],
  ],
  [{ field: 'trace_id', operator: 'not_in', value: [SPANS.plain.traceId, SPANS.failed.traceId] }, PARIS],
  [{ field: 'span_id', value: '00000000-0000-0000-0123-456789abcdef' }, ['Plain']],
  [{ field: 'parent_id', operator: 'exists' }, FAILED],
  [{ field: 'parent_id', operator: 'not_exists' }, ['Plain', 'paris']],
  [{ field: 'trace_type', value: 'annotation' }, FAILED],
  [{ field: 'span_type', operator: 'is_not', value: 'llm' }, ['Plain', 'failed']],
  [{ field: 'status_code', operator: 'eq', value: 'STATUS_CODE_ERROR' }, FAILED],
  [{ field: 'session_id', operator: 'neq', value: 'S-1' }, ['Plain', 'failed']],
  [{ field: 'session_id', value: 's-1' }, NONE],
  [{ field: 'user_id', operator: 'exists' }, NONE],
  [{ field: 'span_kind', value: 'SPAN_KIND_SERVER' }, ['Plain', 'paris', 'failed']],
  // text
  [{ field: 'span_name', operator: 'startswith', value: 'P' }, ['Plain', 'paris']],
  [{ field: 'span_name', operator: 'startswith', value: 'P', options: { case_sensitive: true } }, ['Plain']],
  [{ field: 'span_name', operator: 'endswith', value: 'IS' }, PARIS],
  [{ field: 'span_name', operator: 'contains', value: 'ai' }, ['Plain', 'failed']],
  [{ field: 'span_name', operator: 'contains', value: 'PARIS', options: { exact_match: true } }, PARIS],
  [{ field: 'span_name', operator: 'contains', value: 'pari', options: { exact_match: true } }, NONE],
  [{ field: 'span_name', operator: 'like', value: 'p%' }, ['Plain', 'paris']],
  [{ field: 'span_name', operator: 'like', value: 'p_r%s' }, PARIS],
  [{ field: 'span_name', operator: 'matches', value: '^p.r' }, PARIS],
  [{ field: 'span_name', operator: 'matches', value: 'p', options: { exact_match: true } }, NONE],
  [{ field: 'span_name', operator: 'matches', value: 'P', options: { case_sensitive: true } }, ['Plain']],
  [{ field: 'status_message', operator: 'like', value: '%limit' }, FAILED],
  [{ field: 'content', value: 'été' }, PARIS],
  [{ field: 'content', operator: 'contains', value: 'RATE' }, FAILED],
  [{ field: 'content', operator: 'contains', value: 'RATE', options: { case_sensitive: true } }, NONE],
  // times
  [{ field: 'start_time', operator: 'gt', value: '2026-03-01T12:00:00.999Z' }, ['paris', 'failed']],
  [{ field: 'start_time', operator: 'gte', value: '2026-03-01T13:00:01+01:00' }, ['paris', 'failed']],
  [{ field: 'start_time', operator: 'lt', value: NOON + 1000 }, ['Plain']],
  [{ field: 'start_time', operator: 'lte', value: (NOON + 1000) * 1000 }, ['Plain', 'paris']],
  [{ field: 'start_time', operator: 'eq', value: NOON / 1000 }, ['Plain']],
  [{ field: 'start_time', operator: 'btwn', value: [`${NOON + 500}000000`, `${NOON + 1500}000000`] }, PARIS],
  [{ field: 'end_time', operator: 'gt', value: '2026-03-01T12:00:02.0125Z' }, NONE],
  [{ field: 'end_time', operator: 'gte', value: '2026-03-01T12:00:02.0125Z' }, FAILED],
  [{ field: 'created_at', operator: 'lt', value: '2026-03-01' }, NONE],
  [{ field: 'deleted_at', operator: 'exists' }, NONE],
  // attributes
  [at('inputs.country', 'is', 'France'), PARIS],
  [at('inputs.country', 'is', 'france'), NONE],
  [at('inputs', 'is', { country: 'France' }), PARIS],
  [at('inputs', 'eq', { country: 'France' }), NONE],
  [at('inputs.country', 'is_not', 'France'), ['Plain', 'failed']],
  [at('inputs.a.b.c', 'is', 1), PARIS],
  [at('outputs.score', 'gt', 0.25), PARIS],
  [at('outputs.score', 'lt', 0.25), NONE],
  [at('outputs.score', 'gt', '0'), NONE],
  [at('outputs.score', 'btwn', [0.5, 1]), PARIS],
  [at('outputs.score', 'eq', new ExactNumber('0.50')), PARIS],
  [at('outputs.big', 'is', new ExactNumber('12345678901234567890')), PARIS],
  [at('outputs.big', 'is', new ExactNumber('12345678901234567891')), NONE],
  [at('outputs.rows.1.x', 'is', 'y'), PARIS],
  [at('outputs.rows', 'is', [{ id: 2 }]), PARIS],
  [at('outputs.rows', 'has', { id: 2 }), PARIS],
  [at('outputs.rows', 'has', { id: 3 }), NONE],
  [at('outputs.rows', 'has_not', { id: 2 }), ['Plain', 'failed']],
  [at('outputs', 'has', 'score'), PARIS],
  [at('outputs.tags', 'in', ['Red', 'green']), PARIS],
  [at('outputs.tags', 'in', ['Red', 'green'], { all: true }), NONE],
  [at('outputs.tags', 'in', ['Red', 'blue'], { all: true }), PARIS],
  [at('inputs.country', 'in', ['Spain', 'France']), PARIS],
  [at('inputs.country', 'not_in', ['France']), ['Plain', 'failed']],
  [at('inputs.country', 'gt', 'Finland'), PARIS],
  [at('outputs.text', 'contains', 'ÉTÉ'), PARIS],
  [at('outputs.text', 'exists'), PARIS],
  [at('outputs.nothing', 'not_exists'), ['Plain', 'paris', 'failed']],
  [at('inputs.constructor', 'exists'), NONE],
  // lists
  [{ field: 'references', operator: 'in', value: [{ slug: 'bot-3' }] }, PARIS],
  [
    {
      field: 'references',
      operator: 'in',
      value: [{ version: 3, attributes: { key: 'workflow_revision' } }],
    },
    PARIS,
  ],
  [
    {
      field: 'references',
      operator: 'in',
      value: [{ id: 'A0000000-0000-7000-8000-000000000001' }, { slug: 'no' }],
    },
    PARIS,
  ],
  [
    {
      field: 'references',
      operator: 'in',
      value: [{ slug: 'bot-3' }, { slug: 'no' }],
      options: { all: true },
    },
    NONE,
  ],
  [
    {
      field: 'references',
      operator: 'has',
      value: { slug: 'production', attributes: { key: 'environment' } },
    },
    PARIS,
  ],
  [{ field: 'references', operator: 'has', value: { slug: 'production', version: '3' } }, NONE],
  // Versions are numbers now, and texts in what was recorded of old.
  [{ field: 'references', operator: 'has', value: { version: '3' } }, PARIS],
  [{ field: 'references', operator: 'has', value: { version: 3 } }, PARIS],
  [{ field: 'references', operator: 'has', value: { version: '7' } }, FAILED],
  [{ field: 'references', operator: 'has', value: { slug: 'bot-7', version: 7 } }, FAILED],
  [referenceAt('workflow_revision.version', 'is', 7), FAILED],
  [referenceAt('workflow_revision.version', 'is', '7'), FAILED],
  [referenceAt('workflow_revision.version', 'is', 3), PARIS],
  [referenceAt('workflow_revision.version', 'is_not', '3'), ['Plain', 'failed']],
  [{ field: 'references', operator: 'not_in', value: [{ slug: 'bot-3' }] }, ['Plain', 'failed']],
  [{ field: 'references', operator: 'exists' }, ['paris', 'failed']],
  [referenceAt('workflow_revision.slug', 'is', 'bot-3'), PARIS],
  [referenceAt('workflow_revision.slug', 'is', 'bot'), NONE],
  [referenceAt('workflow_revision.slug', 'is_not', 'bot-3'), ['Plain', 'failed']],
  [referenceAt('workflow_revision.version', 'in', ['2', '3']), PARIS],
  [referenceAt('workflow_revision', 'has', 'slug'), ['paris', 'failed']],
  [referenceAt('environment', 'exists'), PARIS],
  [{ field: 'attributes', key: 'svc.references', operator: 'exists' }, ['paris', 'failed']],
  [{ field: 'attributes', key: 'svc.references', value: { environment: { slug: 'production' } } }, PARIS],
  [{ field: 'attributes', key: 'svc', value: { references: { environment: {} } } }, PARIS],
  [{ field: 'attributes', key: 'svc', value: { references: { environment: { slug: 'bot-3' } } } }, NONE],
  [{ field: 'content', value: 'BOT-3' }, PARIS],
  [{ field: 'links', operator: 'in', value: [{ trace_id: 'abababab-abab-abab-abab-abababababab' }] }, FAILED],
  [
    {
      field: 'links',
      operator: 'in',
      value: [{ span_id: LINKED.spanId, attributes: { key: 'invocation' } }],
    },
    FAILED,
  ],
  [
    { field: 'events', operator: 'has', value: { name: 'exception', attributes: { type: 'RateLimit' } } },
    FAILED,
  ],
  [{ field: 'hashes', operator: 'exists' }, NONE],
]

overEachEngine('traces: filters', (traceProject) => {
  let project: TraceProject
  let again: TraceProject
  before(async () => {
    project = traceProject()
    again = traceProject()
    for (const { traces } of [project, again, again]) {
      for (const span of Object.values(SPANS)) traces.record([span])
      await traces.stored()
    }
  })
  after(() => Promise.all([project?.stop(), again?.stop()]))

  const found = async (filtering: object, { traces } = project): Promise<string[]> => {
    const page = await traces.query(
      traceQuestion('span', { value: filtering as Json, loc: [] }, { order: 'ascending' }),
    )
    return page.spans.map(({ span_name }) => span_name)
  }

  for (const [condition, names] of CASES) {
    // interface 12.12
    it(`${stringifyJson(condition)} finds ${names.join(', ') || 'nothing'}`, async () => {
      expect(await found({ conditions: [condition] })).to.deep.equal(names)
      // where spans share their references, because they came a second time
      expect(await found({ conditions: [condition] }, again)).to.deep.equal(names)
    })
  }

  it('filterings are joined by and, or, not, nand and nor, and nested', async () => {
    const llm = { field: 'span_type', value: 'llm' }
    const error = { field: 'status_code', value: 'STATUS_CODE_ERROR' }
    const join = (operator: string, ...conditions: object[]) => ({ operator, conditions })
    expect(await found(join('and', llm, error))).to.deep.equal([])
    expect(await found(join('or', llm, error))).to.deep.equal(['paris', 'failed'])
    expect(await found(join('not', llm))).to.deep.equal(['Plain', 'failed'])
    expect(await found(join('nand', llm, error))).to.deep.equal(['Plain', 'paris', 'failed'])
    expect(await found(join('nor', llm, error))).to.deep.equal(['Plain'])
    const nested = join(
      'and',
      join('or', llm, error),
      join('not', { field: 'session_id', operator: 'exists' }),
    )
    expect(await found(nested)).to.deep.equal(['failed'])
    for (const operator of ['and', 'or', 'not', 'nand', 'nor'])
      expect(await found(join(operator))).to.have.length(3)
  })

  const BAD: readonly (readonly [object, RegExp])[] = [
    [
      { field: 'nonsense', value: 1 },
      /conditions\.0\.field: there is no field "nonsense"; the fields are trace_id,/,
    ],
    [
      { field: 'trace_id', operator: 'like', value: 'a' },
      /operator: trace_id takes no operator like; it takes is, is_not/,
    ],
    [{ field: 'trace_id', value: 'abc' }, /value: must be a trace id, 32 hex digits, but it is "abc"/],
    [{ field: 'attributes', value: 1 }, /key: attributes need a key/],
    [{ field: 'attributes', key: 'a.'.repeat(200), value: 1 }, /key: must have at most 100 segments/],
    [{ field: 'span_name' }, /value: is needs a value/],
    [{ field: 'span_name', value: null }, /value: is needs a value/],
    [{ field: 'span_name', operator: 'in', value: 'a' }, /value: in needs a list of values, but this is "a"/],
    [{ field: 'span_name', operator: 'contains', value: 3 }, /value: contains needs a text, but this is 3/],
    [{ field: 'span_name', operator: 'matches', value: '(' }, /is no regular expression of JavaScript/],
    [{ field: 'start_time', operator: 'gt', value: 'yesterday' }, /value: must be a time in RFC 3339/],
    [{ field: 'start_time', operator: 'btwn', value: ['2026-03-01'] }, /btwn needs a list of two values/],
    [{ field: 'span_name', operator: 'almost', value: 'a' }, /the operator of a condition must be one of/],
    [{ field: 'span_name', value: 'a', because: 1 }, /"because" is not a key of a condition/],
  ]
  for (const [condition, message] of BAD) {
    // interface 12.12
    it(`${stringifyJson(condition).slice(0, 90)} is refused, and its place named`, () => {
      const read = () => readTraceFilter({ conditions: [condition as Json] }, ['body', 'filtering'])
      expect(read).to.throw(Refusal, message)
      expect(read).to.throw(Refusal, /^body\.filtering\.conditions\.0/)
    })
  }

  it('what SQL leaves out never matched: with and without it the same is found', async () => {
    const values = fc.constantFrom<Json>(
      'a',
      'é"\\',
      1,
      true,
      { k: 'a' },
      ['a', 'b'],
      null,
      'x\u0000y',
      { 'a.b': 'a' },
      {
        n: { m: ['é"\\'] },
      },
    )
    const condition = fc.record({
      field: fc.constant('attributes'),
      key: fc.constantFrom('p', 'q', 'p.k', 'q.n', 'q.n.m', 'p.1', 'q.a.b'),
      operator: fc.constantFrom('is', 'eq', 'in', 'is_not', 'has', 'not_in', 'neq', 'gt', 'exists'),
      value: values.filter((value) => value !== null),
    })
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ p: values, q: values }), { minLength: 3, maxLength: 8 }),
        condition,
        async (rows, wanted) => {
          const value = wanted.operator.endsWith('in') ? [wanted.value] : wanted.value
          const filter = readTraceFilter({ conditions: [{ ...wanted, value }] }, [])
          const name = `sql ${Math.random()}`
          const spans = rows.map((row) => makeSpan({ name, attributes: row }))
          project.traces.record(spans)
          const conditions = [
            { field: 'span_name', value: name },
            { ...wanted, value },
          ]
          const page = await project.traces.query(
            traceQuestion('span', { value: { conditions }, loc: [] }, {}),
          )
          const expected = rows.filter((row) =>
            filter.matches(parseJson(stringifyJson({ attributes: row })) as never),
          )
          expect(page.spans).to.have.length(expected.length)
        },
      ),
      { numRuns: 150 },
    )
  })

  it('like takes no longer for patterns that are meant to hang it', () => {
    expect(isLike('a'.repeat(2000), `${'%a'.repeat(500)}b`)).to.equal(false)
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 8 }),
        fc.string({ unit: fc.constantFrom('a', '%', '_'), maxLength: 6 }),
        (text, pattern) => {
          const same = new RegExp(`^${pattern.replaceAll('%', '[^]*').replaceAll('_', '[^]')}$`)
          expect(isLike(text, pattern)).to.equal(same.test(text))
        },
      ),
    )
  })
})

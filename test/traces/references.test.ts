import { expect } from 'chai'
import Database from 'libsql'
import type { Span, SpanReference } from '../../src/traces/span.ts'
import { makeSpan, NOON, spanWith } from './make-span.ts'
import { type TraceProject, traceProject } from './trace-project.ts'

const DAY = 24 * 3_600_000

/** References of a revision, as runs of it have them. */
const referencesTo = (slug: string): ReadonlyMap<string, SpanReference> =>
  new Map([
    ['workflow', { id: `id of ${slug}`, slug }],
    ['workflow_revision', { id: `revision of ${slug}`, slug: `${slug}-3`, version: '3' }],
  ])

describe('traces: references that recur', () => {
  let project: TraceProject
  beforeEach(() => (project = traceProject()))
  afterEach(() => project.stop())

  /** Each by itself: what is stored together comes once. */
  const recordEach = async (spans: readonly Span[]): Promise<void> => {
    for (const span of spans) {
      project.traces.record([span])
      await project.traces.stored()
    }
  }

  const recordsOf = async (spans: readonly Span[]): Promise<readonly string[]> =>
    (await project.traces.read(spans.map(({ traceId }) => traceId))).map(({ record }) => record)

  it('are stored once, and each record is answered as it was recorded', async () => {
    const odd = 'a\tb\n\u0001\u0002"$&$1é😀'
    const references = new Map([['odd', { slug: odd }], ...referencesTo('bot')])
    const spans = [
      spanWith({ inputs: odd }, { references, name: odd }),
      makeSpan({ references, attributes: { svc: {} } }),
      makeSpan({ references, attributes: { gen_ai: {}, svc: { data: { outputs: 1 } }, last: odd } }),
      makeSpan({ references, attributes: {} }),
      makeSpan({ references, attributes: { svc: 'text' } }),
      spanWith(
        { outputs: 1 },
        {
          references,
          links: new Map([['invocation', { traceId: 'ab'.repeat(16), spanId: 'cd'.repeat(8) }]]),
          exception: { type: 'E', message: odd, stacktrace: [odd] },
        },
      ),
    ]
    // All of them come with references that are new the first time, and again.
    project.traces.record(spans)
    const first = await recordsOf(spans)
    expect(stored(project.file)).to.deep.equal({ texts: 0, sharing: 0 })
    await recordEach(spans)
    expect(stored(project.file)).to.deep.equal({ texts: 1, sharing: spans.length })
    expect(await recordsOf(spans)).to.deep.equal(first)
  })

  it('are one for all who have the same, whoever made them, and whichever process stored them', async () => {
    const spans = Array.from({ length: 6 }, (_, n) =>
      spanWith({ inputs: n }, { references: referencesTo(n % 2 === 0 ? 'even' : 'odd') }),
    )
    await recordEach(spans)
    const other = project.another()
    for (const span of spans) {
      const again = { ...span, name: 'again' }
      other.traces.record([again])
      await other.traces.stored()
    }
    expect(stored(project.file)).to.deep.equal({ texts: 2, sharing: 4 })
    const together = Array.from({ length: 120 }, () => makeSpan({ references: referencesTo('new') }))
    for (const count of [0, together.length]) {
      project.traces.record(together)
      await project.traces.stored()
      expect(stored(project.file)).to.deep.equal({ texts: count === 0 ? 2 : 3, sharing: 4 + count })
    }
    for (const [n, record] of (await recordsOf(spans)).entries())
      expect(record).to.include(`"slug":"${n % 2 === 0 ? 'even' : 'odd'}-3"`)
  })

  it('that nearly say the same are told apart', async () => {
    const one = { slug: 'a' }
    const said: readonly Readonly<Record<string, SpanReference>>[] = [
      { workflow: one },
      { workflow: { id: 'a' } },
      { workflow: { slug: 'a', version: '1' } },
      { workflow: { slug: 'a","version":"1' } },
      { evaluator: one },
      { workflow: one, evaluator: one },
      { evaluator: one, workflow: one },
    ]
    const maps = said.map((it) => new Map(Object.entries(it)))
    const spans = [...maps, ...maps].map((references) => makeSpan({ references }))
    project.traces.record(spans)
    const records = await recordsOf(spans)
    expect(stored(project.file)).to.deep.equal({ texts: 0, sharing: 0 })
    await recordEach(spans)
    expect(stored(project.file)).to.deep.equal({ texts: said.length, sharing: spans.length })
    expect(await recordsOf(spans)).to.deep.equal(records)
    for (const [n, record] of records.entries())
      expect(JSON.stringify(JSON.parse(record).attributes.svc.references)).to.equal(
        JSON.stringify(said[n % said.length]),
      )
  })

  it('that come but once stay in their records', async () => {
    await recordEach(
      Array.from({ length: 5 }, (_, n) =>
        spanWith({}, { references: new Map([['testcase', { id: String(n) }]]) }),
      ),
    )
    expect(stored(project.file)).to.deep.equal({ texts: 0, sharing: 0 })
  })

  it('go with the last trace that has them, and not before', async () => {
    const at = (days: number, slug: string): Span =>
      makeSpan({ startTime: NOON - days * DAY, references: referencesTo(slug) })
    const gone = [
      at(40, 'old'),
      at(39, 'old'),
      at(38, 'old'),
      at(37, 'rising'),
      at(36, 'rising'),
      at(35, 'falling'),
    ]
    const [older, rising, falling] = [at(3, 'falling'), at(1, 'rising'), at(2, 'falling')]
    const [last = expect.fail(), ...others] = gone.reverse()
    await recordEach([...others, older, rising, falling, last])
    expect(stored(project.file)).to.deep.equal({ texts: 3, sharing: 6 })
    const before = await recordsOf([older, rising, falling])
    await project.traces.retain()
    expect(stored(project.file)).to.deep.equal({ texts: 2, sharing: 2 })
    expect(await recordsOf([...gone, older, rising, falling])).to.deep.equal(before)
    // What is gone is stored anew when it comes again.
    await recordEach([at(0, 'old')])
    expect(stored(project.file)).to.deep.equal({ texts: 3, sharing: 3 })
  })

  it('of a trace that is removed stay for the others', async () => {
    const spans = [1, 2, 3].map((n) => makeSpan({ startTime: NOON + n, references: referencesTo('bot') }))
    await recordEach(spans)
    const before = await recordsOf(spans)
    const [, second, third] = spans
    await project.traces.remove(third?.traceId ?? '')
    await project.traces.retain()
    expect(await recordsOf(spans)).to.deep.equal(before.slice(0, 2))
    await project.traces.remove(second?.traceId ?? '')
    expect(await recordsOf(spans)).to.deep.equal(before.slice(0, 1))
  })

  it('count as part of the size, and leave nothing behind when all traces go', async () => {
    const slug = 'x'.repeat(100_000)
    const spans = Array.from({ length: 40 }, (_, n) =>
      makeSpan({ startTime: NOON - n * 1000, references: referencesTo(`${n >> 1} ${slug}`) }),
    )
    await recordEach([...spans, ...spans])
    await project.open.close()
    const small = project.another({ retention: { maxAgeDays: 30, maxBytes: 64 * 1024 } })
    await small.traces.retain()
    expect(stored(project.file)).to.deep.equal({ texts: 0, sharing: 0 })
    expect(pagesOf(project.file)).to.be.below(20)
  })
})

function pagesOf(file: string): number | undefined {
  const database = new Database(file, { readonly: true })
  const [row] = database.prepare('PRAGMA page_count').all() as { readonly page_count: number }[]
  database.close()
  return row?.page_count
}

/** How many texts of references a file has, and how many spans point at one. */
function stored(file: string): { readonly texts: number; readonly sharing: number } {
  const database = new Database(file, { readonly: true })
  const [row] = database
    .prepare(
      'SELECT (SELECT count(*) FROM reference_texts) AS texts, (SELECT count(reference_text) FROM spans) AS sharing',
    )
    .all() as { readonly texts: number; readonly sharing: number }[]
  database.close()
  return row ?? { texts: -1, sharing: -1 }
}

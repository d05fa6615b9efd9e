import { statSync } from 'node:fs'
import { expect } from 'chai'
import { memoryFs } from '../../../src/storage/memory-fs.ts'
import { nodeFs } from '../../../src/storage/files/node-fs.ts'
import { traceQuestion } from '../../../src/feeds/traces/query/trace-page.ts'
import { traceIdsOf } from '../../../src/feeds/traces/query/trace-tree.ts'
import { makeSpan, NOON, spanWith } from '../../support/values/make-span.ts'
import { type TraceProject, traceProject } from './trace-project.ts'

const DAY = 24 * 3_600_000

describe('traces: retention', () => {
  let project: TraceProject
  afterEach(() => project.stop())

  const idsLeft = async () =>
    traceIdsOf((await project.traces.query(traceQuestion('trace', undefined, {}))).spans)

  for (const [where, fs] of [
    ['', nodeFs],
    [', in memory', memoryFs()],
  ] as const)
    it(`what began longer ago than the greatest age goes, with all of its spans${where}`, () =>
      agesLeave(traceProject({ retention: { maxAgeDays: 2, maxBytes: 1024 ** 3 } }, undefined, fs)))

  async function agesLeave(own: TraceProject): Promise<void> {
    project = own
    const old = makeSpan({ startTime: NOON - 2 * DAY })
    const young = makeSpan({ startTime: NOON - 2 * DAY + 2 * 3_600_000 })
    // It ended late, and began long ago.
    const late = makeSpan({ traceId: old.traceId, parentId: old.spanId, startTime: NOON })
    project.traces.record([late, old])
    project.traces.record([young])
    await idsLeft()
    await project.traces.retain()
    expect(await idsLeft()).to.deep.equal([young.traceId])
    expect(await project.traces.read([old.traceId])).to.deep.equal([])
  }

  it('past the greatest size the oldest go from memory, and no more than must', async () => {
    const retention = { maxAgeDays: 30, maxBytes: 100_000 }
    project = traceProject({ retention }, undefined, memoryFs())
    const spans = Array.from({ length: 20 }, (_, n) =>
      spanWith({ inputs: 'x'.repeat(10_000) }, { startTime: NOON - n * 1000 }),
    )
    project.traces.record(spans)
    await idsLeft()
    await project.traces.retain()
    expect(await idsLeft()).to.deep.equal(spans.slice(0, 9).map(({ traceId }) => traceId))
  })

  it('past the greatest size the oldest go, few more than must, and the disk gets their room', async () => {
    const maxBytes = 3 * 1024 * 1024
    project = traceProject({ retention: { maxAgeDays: 30, maxBytes } })
    const spans = Array.from({ length: 900 }, (_, n) =>
      spanWith({ inputs: 'x'.repeat(10_000) }, { startTime: NOON - n * 1000 }),
    )
    for (const span of spans) project.traces.record([span])
    await idsLeft()
    await project.traces.retain()
    const left = await idsLeft()
    expect(left).to.deep.equal(spans.slice(0, left.length).map(({ traceId }) => traceId))
    expect(left.length).to.be.within(200, 300)
    await project.open.close()
    expect(statSync(project.file).size).to.be.within(maxBytes * 0.7, maxBytes)
  })

  it('nothing goes that need not, and where nothing was recorded no file is made', async () => {
    project = traceProject()
    await project.traces.retain()
    expect(() => statSync(project.file)).to.throw('ENOENT')
    const span = makeSpan()
    project.traces.record([span])
    await idsLeft()
    await project.traces.retain()
    expect(await idsLeft()).to.deep.equal([span.traceId])
  })

  it('recording goes on while old traces go', async () => {
    project = traceProject({ retention: { maxAgeDays: 1, maxBytes: 1024 ** 3 } })
    for (let n = 0; n < 1000; n++) project.traces.record([makeSpan({ startTime: NOON - 3 * DAY + n })])
    await idsLeft()
    const retaining = project.traces.retain()
    const young = Array.from({ length: 50 }, () => makeSpan())
    for (const span of young) {
      project.traces.record([span])
      expect(await project.traces.read([span.traceId])).to.have.length(1)
    }
    await retaining
    expect(await idsLeft()).to.have.length(50)
  })
})

import { expect } from 'chai'
import Database from 'libsql'
import type { Json } from '../../src/json/json.ts'
import { traceQuestion } from '../../src/traces/query/trace-question.ts'
import { traceIdsOf } from '../../src/traces/query/trace-tree.ts'
import { spanWith } from './make-span.ts'
import { type TraceProject, traceProject } from './trace-project.ts'
import { makeVersionOne } from './version-one.ts'

describe('traces: a file of version 1', () => {
  let project: TraceProject
  let stored: readonly StoredRow[]
  beforeEach(() => {
    project = traceProject()
    makeVersionOne(project.file)
    stored = rowsOf(project.file)
  })
  afterEach(() => project.stop())

  const asked = async (condition?: object, traces = project.traces): Promise<readonly string[]> => {
    const filtering = condition && { value: { conditions: [condition] } as unknown as Json, loc: [] }
    const page = await traces.query(traceQuestion('span', filtering, { order: 'ascending' }))
    return page.spans.map(({ record }) => record)
  }

  it('every record is read as it was written, by id and by question', async () => {
    const ids = [...new Set(stored.map(({ trace_id }) => trace_id))]
    const read = await project.traces.read(ids)
    expect(read.map(({ record }) => record)).to.have.members(stored.map(({ record }) => record))
    expect(await asked()).to.have.members(stored.map(({ record }) => record))
    expect(rowsOf(project.file)).to.deep.equal(stored)
    expect(versionOf(project.file)).to.equal(2)
  })

  it('what is recorded from now on lies beside, and is found by the same questions', async () => {
    const references = new Map([['workflow', { id: '0199f3b2-7c1d-7a52-9d2e-3f1b2c4d5e6f', slug: 'bot' }]])
    const spans = [1, 2, 3].map((n) => spanWith({ inputs: n }, { references }))
    for (const span of spans) {
      project.traces.record([span])
      await project.traces.stored()
    }
    const before = stored.map(({ record }) => record).filter((record) => record.includes('"bot"'))
    for (const condition of [
      { field: 'references', operator: 'has', value: { slug: 'bot' } },
      { field: 'attributes', key: 'svc.references.workflow.slug', value: 'bot' },
      { field: 'attributes', key: 'svc.references', operator: 'exists' },
      { field: 'attributes', key: 'svc', value: { references: { workflow: { slug: 'bot' } } } },
    ]) {
      const found = await asked(condition)
      expect(found).to.have.length(5)
      expect(found).to.include.members(before)
    }
    expect(await asked({ field: 'references', operator: 'has', value: { slug: 'bot-3' } })).to.have.members(
      before,
    )
  })

  it('two processes that open it at once find it whole, and both record', async () => {
    const other = project.another()
    const spans = [spanWith({ inputs: 1 }), spanWith({ inputs: 2 })] as const
    project.traces.record([spans[0]])
    other.traces.record([spans[1]])
    const views = await Promise.all([asked(undefined, project.traces), asked(undefined, other.traces)])
    for (const view of views) expect(view).to.include.members(stored.map(({ record }) => record))
    for (const { traceId } of spans) expect(await project.traces.read([traceId])).to.have.length(1)
    expect(versionOf(project.file)).to.equal(2)
  })

  it('old traces are removed by one, and by age', async () => {
    const [{ trace_id: first } = expect.fail()] = stored
    expect(await project.traces.remove(first)).to.equal(true)
    await project.open.close()
    const late = project.another({ now: () => new Date('2027-03-01T00:00:00Z') })
    expect(traceIdsOf((await late.traces.query(traceQuestion('trace', undefined, {}))).spans)).to.have.length(
      1,
    )
    await late.traces.retain()
    expect((await late.traces.query(traceQuestion('trace', undefined, {}))).spans).to.deep.equal([])
    expect(rowsOf(project.file)).to.deep.equal([])
  })
})

interface StoredRow {
  readonly trace_id: string
  readonly record: string
}

/** As they lie in the file. */
function rowsOf(file: string): readonly StoredRow[] {
  const database = new Database(file, { readonly: true })
  const rows = database
    .prepare('SELECT t.trace_id, s.record FROM traces t JOIN spans s ON s.trace = t.id ORDER BY s.id')
    .all() as StoredRow[]
  database.close()
  return rows
}

function versionOf(file: string): number | undefined {
  const database = new Database(file, { readonly: true })
  const [row] = database.prepare('PRAGMA user_version').all() as { readonly user_version: number }[]
  database.close()
  return row?.user_version
}

import { expect } from 'chai'
import { makeSpan, NOON, spanWith } from '../../support/values/make-span.ts'
import { rowsOfFile } from './trace-file-rows.ts'
import { type TraceProject, traceProject } from './trace-project.ts'

describe('traces: the file, read by another program', () => {
  let project: TraceProject
  const references = new Map([
    ['workflow', { id: 'w-1', slug: 'bot' }],
    ['workflow_revision', { id: 'r-3', slug: 'bot-3', version: 3 }],
  ])
  const run = makeSpan({
    startTime: NOON + 0.123,
    sessionId: 's-1',
    references,
    attributes: {
      svc: { data: { inputs: { country: 'Perú' } }, metrics: { duration: { cumulative: 12.5 } } },
    },
  })
  const model = spanWith(
    { outputs: 'a\tb\u0001' },
    {
      traceId: run.traceId,
      parentId: run.spanId,
      name: 'model',
      type: 'llm',
      kind: 'SPAN_KIND_CLIENT',
      startTime: NOON + 1,
      statusCode: 'STATUS_CODE_ERROR',
      references,
    },
  )
  before(async () => {
    project = traceProject()
    // Twice, and apart: nothing is stored differently the second time.
    for (let round = 0; round < 2; round++) {
      project.traces.record([model, run])
      await project.traces.stored()
    }
  })
  after(() => project.stop())

  const rows = <T>(sql: string): readonly T[] => rowsOfFile<T>(project.file, sql)

  it('a span is a row, with what is looked for in columns', () => {
    expect(rows('SELECT * FROM spans ORDER BY start_time').map((row) => withoutRecord(row))).to.deep.equal([
      {
        trace_id: run.traceId,
        span_id: run.spanId,
        parent_id: null,
        trace_type: 'invocation',
        span_type: 'workflow',
        span_kind: 'SPAN_KIND_SERVER',
        span_name: 'completion_v0',
        start_time: '2026-03-01T12:00:00.000123Z',
        end_time: '2026-03-01T12:00:00.012623Z',
        status_code: 'STATUS_CODE_OK',
        session_id: 's-1',
      },
      {
        trace_id: run.traceId,
        span_id: model.spanId,
        parent_id: run.spanId,
        trace_type: 'invocation',
        span_type: 'llm',
        span_kind: 'SPAN_KIND_CLIENT',
        span_name: 'model',
        start_time: '2026-03-01T12:00:00.001000Z',
        end_time: '2026-03-01T12:00:00.013500Z',
        status_code: 'STATUS_CODE_ERROR',
        session_id: null,
      },
    ])
    expect(rows('SELECT * FROM traces')).to.deep.equal([
      { trace_id: run.traceId, start_time: '2026-03-01T12:00:00.000123Z' },
    ])
  })

  it('the record is the JSON that is answered, references and all, and SQLite reads it', async () => {
    const answered = await project.traces.read([run.traceId])
    expect(rows<{ record: string }>('SELECT record FROM spans ORDER BY start_time')).to.deep.equal(
      answered.map(({ record }) => ({ record })),
    )
    expect(
      rows(`SELECT json_extract(record, '$.attributes.svc.data.inputs.country') AS country,
        json_extract(record, '$.attributes.svc.metrics.duration.cumulative') AS duration,
        json_extract(record, '$.attributes.svc.references.workflow_revision.version') AS version,
        json_extract(record, '$.references[1].slug') AS slug, min(json_valid(record)) AS valid
        FROM spans WHERE parent_id IS NULL`),
    ).to.deep.equal([{ country: 'Perú', duration: 12.5, version: 3, slug: 'bot-3', valid: 1 }])
  })

  it('a trace is found by what its references name, and not by what else its record says', async () => {
    expect(await project.traces.naming('r-3')).to.equal(run.traceId)
    expect(await project.traces.naming('Perú')).to.equal(undefined)
  })

  it('times are what SQLite takes for times', () => {
    expect(
      rows(`SELECT date(start_time) AS day, round((julianday(end_time) - julianday(start_time)) * 86400, 2) AS seconds
        FROM spans WHERE start_time >= '2026-03-01T12:00:00.001' AND start_time < '2026-03-01T12:01'`),
    ).to.deep.equal([{ day: '2026-03-01', seconds: 0.01 }])
  })
})

function withoutRecord(row: unknown): object {
  const { id: _, record: __, ...columns } = row as Record<string, unknown>
  return columns
}

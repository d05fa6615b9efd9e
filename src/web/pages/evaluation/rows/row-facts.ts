import { call } from '../../../api/call.ts'
import type { RowResult } from '../outcome.ts'

/** What a row is, beside what came of it. */
export interface RowFacts {
  /** Its columns, without the dedup id; undefined where the testset is gone. */
  readonly data?: Readonly<Record<string, unknown>>
  readonly dedupId?: string
  /** How long the prompt and the evaluators took together, in milliseconds; undefined where the trace is gone. */
  readonly took?: number
}

/** The rows and the traces of results, in their order. */
export async function rowFacts(
  results: readonly RowResult[],
  signal: AbortSignal,
): Promise<readonly RowFacts[]> {
  if (results.length === 0) return []
  const ids = [...new Set(results.map((it) => it.testcase_id))]
  const traceIds = [...new Set(results.map((it) => it.trace_id))]
  const [rows, traces] = await Promise.all([
    call('POST /testcases/query', { body: { testcase_ids: ids } }, signal),
    call(
      'POST /traces/query',
      {
        body: {
          filtering: { conditions: [{ field: 'trace_id', operator: 'in', value: traceIds }] },
          heads_only: true,
        },
      },
      signal,
    ),
  ])
  const dataOf = new Map(rows.testcases.map(({ id, data }) => [id, data]))
  const tookOf = new Map(traces.traces.map(({ trace_id: id, spans }) => [id, durationOf(spans)]))
  return results.map(({ testcase_id: id, trace_id: trace }) => {
    const { testcase_dedup_id: dedupId, ...data } = dataOf.get(id) ?? {}
    const took = tookOf.get(trace)
    return {
      ...(dataOf.has(id) ? { data } : {}),
      ...(typeof dedupId === 'string' ? { dedupId } : {}),
      ...(took === undefined ? {} : { took }),
    }
  })
}

/** How long a trace took, from the beginning to the end of the span that heads it. */
function durationOf(spans: Readonly<Record<string, unknown>>): number | undefined {
  const [first] = Object.values(spans).flat() as readonly (
    { readonly start_time?: string; readonly end_time?: string } | undefined
  )[]
  const took = Date.parse(first?.end_time ?? '') - Date.parse(first?.start_time ?? '')
  return Number.isNaN(took) ? undefined : took
}

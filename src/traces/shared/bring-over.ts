import { nodeFs } from '../../storage/node-fs.ts'
import type { SpanRow, StoredSpan } from '../recording/span-record.ts'
import type { SpanStore } from '../span-store.ts'
import { traceThread } from '../storage/start-trace-thread.ts'

/**
 * Brings the spans over that a server has in a file from a time when they did not lie in a database, and gives the file another name then.
 * Stopped before, it begins anew the next time, which does no harm. Rejects where either cannot be used.
 */
export async function bringOver(
  file: string,
  to: Pick<SpanStore, 'write'>,
  isEnding: () => boolean,
): Promise<void> {
  const thread = traceThread()
  let next: string | undefined
  try {
    do {
      if (isEnding()) return
      const window = { order: 'ascending', next, limit: AT_ONCE } as const
      const question = { focus: 'span', filtering: undefined, window } as const
      const page = await thread.call('query', file, { question })
      if (page.spans.length > 0) await to.write(page.spans.map(storedSpanOf))
      next = page.next
    } while (next !== undefined)
  } finally {
    await thread.stop(new Error('the traces are brought over'))
  }
  nodeFs.rename(file, `${file}.brought-over`)
}

/** So many spans are read as JSON in one go. */
const AT_ONCE = 200

/** A row with the columns that its record tells of. */
function storedSpanOf(row: SpanRow): StoredSpan {
  const { trace_type, span_type, span_kind, start_time, end_time, status_code, session_id } = JSON.parse(
    row.record,
  ) as Omit<StoredSpan, 'session_id'> & { readonly session_id?: string }
  return {
    ...row,
    ...{ trace_type, span_type, span_kind, start_time, end_time, status_code },
    session_id: session_id ?? null,
  }
}

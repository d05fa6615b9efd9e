import { randomUUID } from 'node:crypto'
import { basename, dirname } from 'node:path'
import { nodeFs } from '../../storage/node-fs.ts'
import type { SpanRow, StoredSpan } from '../recording/span-record.ts'
import { traceThread } from '../storage/start-trace-thread.ts'
import type { SpanTable } from './span-table.ts'

/**
 * Brings the traces over that a server has in a file from a time when they did not lie in a database, and gives the file another name then.
 * With each part is written, in the same transaction, how far it goes: stopped before the end, by whatever, it goes on there the next time, and
 * does not bring back what was removed from the database meanwhile. Rejects where either cannot be used.
 */
export async function bringOver(file: string, table: SpanTable, isEnding: () => boolean): Promise<void> {
  const project = basename(dirname(file))
  const name = `${file}.bringing-over`
  const id = await nameOf(name)
  const thread = traceThread()
  try {
    let last = await table.broughtUpTo(id)
    while (last !== ALL) {
      if (isEnding()) return
      // Each with all of its spans: one that is removed in the middle of this is removed as a whole.
      const window = { order: 'ascending', next: last, limit: AT_ONCE } as const
      const question = { focus: 'trace', filtering: undefined, window } as const
      const page = await thread.call('query', file, { question })
      last = page.next ?? ALL
      await table.write(project, page.spans.map(storedSpanOf), { file: id, last })
    }
  } finally {
    await thread.stop(new Error('the traces are brought over'))
  }
  // Before the file goes: what a later file of that place is called is not what this one was.
  nodeFs.remove(name)
  nodeFs.rename(file, `${file}.brought-over`)
  await table.forgetBrought(id)
}

/** So many traces are read as JSON in one go. */
const AT_ONCE = 50

/** What is noted in the place of the last trace when there are no more. */
const ALL = 'all'

/** What the database knows a file by, which stands beside it: another server has a file of the same path. One that a power cut tore is made anew. */
async function nameOf(path: string): Promise<string> {
  const known = nodeFs.readFile(path)?.toString('latin1') ?? ''
  if (/^[0-9a-f-]{36}$/.test(known)) return known
  const id = randomUUID()
  nodeFs.remove(path)
  nodeFs.create(path, Buffer.from(id))
  await nodeFs.sync(path)
  await nodeFs.syncDir(dirname(path))
  return id
}

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

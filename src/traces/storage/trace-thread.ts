import { DatabaseFiles } from '../../storage/sqlite/database-files.ts'
import { serveFiles, setAsideDamaged } from '../../storage/sqlite/serve-files.ts'
import { isDamage } from '../../storage/sqlite/sqlite-errors.ts'
import type { ThreadRequest } from '../../storage/sqlite/thread-messages.ts'
import { matchRecords } from './match-records.ts'
import { queryTraces } from './query-traces.ts'
import { retainTraces } from './retain-traces.ts'
import { namingTrace, removeTrace, spansOfTrace, writeSpans } from './stored-spans.ts'
import type { ThreadWork } from './thread-work.ts'
import { BUSY_MS, TraceFile } from './trace-file.ts'

/** The program of a thread that works on the files of traces. */
const files = new DatabaseFiles((path) => TraceFile.open(path), BUSY_MS)

serveFiles<ThreadWork>(files, done)

function done(request: ThreadRequest<ThreadWork>): unknown {
  const { work, file: path, asks } = request
  if (work === 'write') return written(request)
  if (work === 'match') return matchRecords(asks.filtering, asks.records)
  if (work === 'examine') return setAsideDamaged(files, path, 'a question found it unreadable')
  const file = files.readable(path)
  switch (work) {
    case 'read':
      return file ? asks.traceIds.flatMap((traceId) => spansOfTrace(file, traceId)) : []
    case 'query':
      return file ? queryTraces(file, asks.question) : { spans: [], next: undefined }
    case 'naming':
      return file && namingTrace(file, asks.digits)
    case 'remove':
      return file ? file.transaction(() => removeTrace(file, asks.traceId)) : false
    case 'retain':
      return file ? retainTraces(file, asks.retention, asks.now) : false
  }
}

/** Writes; where the file is no database, into a new one. */
function written({
  file: path,
  asks,
}: ThreadRequest<ThreadWork> & { readonly work: 'write' }): string | undefined {
  try {
    writeSpans(files.writable(path), asks.spans)
    return undefined
  } catch (error) {
    if (!isDamage(error)) throw error
    const told = setAsideDamaged(files, path, (error as Error).message)
    writeSpans(files.writable(path), asks.spans)
    return told
  }
}

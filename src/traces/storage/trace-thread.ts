import { parentPort } from 'node:worker_threads'
import { Refusal } from '../../errors.ts'
import { queryTraces } from './query-traces.ts'
import { retainTraces } from './retain-traces.ts'
import { namingTrace, removeTrace, spansOfTrace, writeSpans } from './stored-spans.ts'
import { END, type ThreadFailure, type ThreadReply, type ThreadRequest } from './thread-messages.ts'
import { ownSignal } from './thread-signal.ts'
import { DatabaseFiles } from '../../storage/sqlite/database-files.ts'
import { isDamage, isStorageTrouble } from '../../storage/sqlite/sqlite-errors.ts'
import { BUSY_MS, TraceFile } from './trace-file.ts'

/**
 * The program of a thread that works on the files of traces, one piece of work after the other: SQLite waits for the disk, and
 * filters take their time, where no request does.
 */
const files = new DatabaseFiles((path) => TraceFile.open(path), BUSY_MS)

parentPort?.on('message', (request: ThreadRequest | typeof END) => {
  if (request === END) {
    files.close()
    // With nothing to listen to, it ends.
    parentPort?.close()
  } else if (!ownSignal.isEnding) parentPort?.postMessage(replyTo(request))
})

function replyTo(request: ThreadRequest): ThreadReply {
  const { id } = request
  try {
    return { id, answer: done(request) }
  } catch (error) {
    // Whatever went wrong, what is opened next is what then lies there.
    files.forget(request.file)
    return { id, failure: failureOf(error, request.file) }
  }
}

function done(request: ThreadRequest): unknown {
  const { work, file: path, asks } = request
  if (work === 'write') return written(request)
  if (work === 'examine') return setAside(path, 'a question found it unreadable')
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
function written({ file: path, asks }: ThreadRequest & { readonly work: 'write' }): string | undefined {
  try {
    writeSpans(files.writable(path), asks.spans)
    return undefined
  } catch (error) {
    if (!isDamage(error)) throw error
    const told = setAside(path, (error as Error).message)
    writeSpans(files.writable(path), asks.spans)
    return told
  }
}

function setAside(path: string, why: string): string | undefined {
  const aside = files.setAside(path)
  return aside && `${path} is damaged (${why}). It was set aside as ${aside}, and a new one is begun`
}

/** What is told goes to clients as well, whom the folders of the machine do not concern. */
function failureOf(error: unknown, file: string): ThreadFailure {
  const message = (error instanceof Error ? error.message : String(error)).replaceAll(file, 'traces.db')
  if (error instanceof Refusal) return { kind: 'refusal', code: error.code, message, data: error.data }
  if (isDamage(error)) return { kind: 'storage', message, isDamage: true }
  if (isStorageTrouble(error)) return { kind: 'storage', message, isDamage: false }
  return { kind: 'bug', message, stack: error instanceof Error ? error.stack : undefined }
}

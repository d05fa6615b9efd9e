import { DatabaseThread } from '../../storage/sqlite/database-thread.ts'
import type { ThreadWork } from './thread-work.ts'

/** A thread that works on the files of traces. */
export type TraceThread = DatabaseThread<ThreadWork>

export function traceThread(): TraceThread {
  // The name that the compiler gives the file beside this one.
  return new DatabaseThread<ThreadWork>(new URL('./trace-thread.js', import.meta.url))
}

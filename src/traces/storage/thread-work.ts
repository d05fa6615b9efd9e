import { DatabaseThread } from '../../storage/sqlite/database-thread.ts'
import type { TracePage, TraceQuestion } from '../query/trace-page.ts'
import type { SpanRow, StoredSpan } from '../recording/span-record.ts'
import type { TraceRetention } from '../project-traces.ts'

/** What a thread is asked to do with the file of a project's traces, by the name of the work. */
export interface ThreadWork {
  /** Stores spans; answers when they are on the way to the disk, as `examine` does if the file is damaged. */
  readonly write: {
    readonly asks: { readonly spans: readonly StoredSpan[] }
    readonly answers: string | undefined
  }
  /** Sets a file aside that is damaged; answers the sentence to tell if so. */
  readonly examine: { readonly asks: object; readonly answers: string | undefined }
  /** The spans of these traces, those of each in the order in which they began. */
  readonly read: {
    readonly asks: { readonly traceIds: readonly string[] }
    readonly answers: readonly SpanRow[]
  }
  readonly query: { readonly asks: { readonly question: TraceQuestion }; readonly answers: TracePage }
  /** The id of some trace that names something whose id ends in these digits. */
  readonly naming: { readonly asks: { readonly digits: string }; readonly answers: string | undefined }
  /** Which of these records a filtering matches; of no file. */
  readonly match: {
    readonly asks: { readonly filtering: string; readonly records: readonly string[] }
    readonly answers: readonly boolean[]
  }
  /** Removes a trace; answers whether it was there. */
  readonly remove: { readonly asks: { readonly traceId: string }; readonly answers: boolean }
  /** Removes a little of what is too old or too much; answers whether more remains. */
  readonly retain: {
    readonly asks: { readonly retention: TraceRetention; readonly now: number }
    readonly answers: boolean
  }
}

/** A thread that works on the files of traces. */
export type TraceThread = DatabaseThread<ThreadWork>

export function traceThread(): TraceThread {
  // The name that the compiler gives the file beside this one.
  return new DatabaseThread<ThreadWork>(new URL('./trace-thread.js', import.meta.url))
}

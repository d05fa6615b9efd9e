import { DatabaseThread } from '../../../storage/sqlite.ts'
import type { TracePage, TraceQuestion } from '../query/trace-page.ts'
import type { SpanRow, StoredSpan } from '../span-record.ts'
import type { TraceRetention } from '../project-traces.ts'

/** The kinds of work of a thread on a project's file of traces. */
export interface ThreadWork {
  /** Stores spans; answers when the operating system has them. If the file is damaged, answers as `examine` does. */
  readonly write: {
    readonly asks: { readonly spans: readonly StoredSpan[] }
    readonly answers: string | undefined
  }
  /** Sets a damaged file aside; answers the message about it, undefined if the file is not damaged. */
  readonly examine: { readonly asks: object; readonly answers: string | undefined }
  /** The spans of these traces, each trace's by start time. */
  readonly read: {
    readonly asks: { readonly traceIds: readonly string[] }
    readonly answers: readonly SpanRow[]
  }
  readonly query: { readonly asks: { readonly question: TraceQuestion }; readonly answers: TracePage }
  /** The id of a trace that refers to an object whose id ends in these digits. */
  readonly naming: { readonly asks: { readonly digits: string }; readonly answers: string | undefined }
  /** Tests which of these records match a filtering; uses no file. */
  readonly match: {
    readonly asks: { readonly filtering: string; readonly records: readonly string[] }
    readonly answers: readonly boolean[]
  }
  /** Removes a trace; answers whether it existed. */
  readonly remove: { readonly asks: { readonly traceId: string }; readonly answers: boolean }
  /** Removes some traces that are too old or exceed the size limit; answers whether more remain. */
  readonly retain: {
    readonly asks: { readonly retention: TraceRetention; readonly now: number }
    readonly answers: boolean
  }
}

/** A thread that works on files of traces. */
export type TraceThread = DatabaseThread<ThreadWork>

export function traceThread(): TraceThread {
  // The built file is next to this one.
  return new DatabaseThread<ThreadWork>(new URL('./trace-thread.js', import.meta.url))
}

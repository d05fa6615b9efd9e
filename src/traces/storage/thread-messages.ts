import type { RefusalCode, RefusalData } from '../../errors.ts'
import type { StoredSpan } from '../recording/span-record.ts'
import type { TraceRetention } from '../trace-settings.ts'
import type { TracePage, TraceQuestion } from './query-traces.ts'
import type { SpanRow } from './stored-spans.ts'

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
  /** Removes a trace; answers whether it was there. */
  readonly remove: { readonly asks: { readonly traceId: string }; readonly answers: boolean }
  /** Removes a little of what is too old or too much; answers whether more remains. */
  readonly retain: {
    readonly asks: { readonly retention: TraceRetention; readonly now: number }
    readonly answers: boolean
  }
}

/** What a thread can be asked to do. */
export type WorkName = keyof ThreadWork

/** A piece of work as it is sent to a thread. */
export type ThreadRequest = {
  readonly [W in WorkName]: {
    readonly id: number
    readonly work: W
    readonly file: string
    readonly asks: ThreadWork[W]['asks']
  }
}[WorkName]

/** Sent to a thread that is to end, after its `ThreadSignal` says so. */
export const END = 'end'

/** What comes back. */
export type ThreadReply =
  { readonly id: number; readonly answer: unknown } | { readonly id: number; readonly failure: ThreadFailure }

/** Why work was not done: a refusal to pass on, a file that cannot be used now, or a bug. */
export type ThreadFailure =
  | {
      readonly kind: 'refusal'
      readonly code: RefusalCode
      readonly message: string
      readonly data: RefusalData
    }
  | { readonly kind: 'storage'; readonly message: string; readonly isDamage: boolean }
  | { readonly kind: 'bug'; readonly message: string; readonly stack: string | undefined }

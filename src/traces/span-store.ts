import type { TracePage, TraceQuestion } from './query/trace-page.ts'
import type { SpanRow, StoredSpan } from './recording/span-record.ts'
import type { TraceRetention } from './trace-settings.ts'

/**
 * Where the spans of one project lie. Everything rejects with `DatabaseTrouble` while that cannot be used; what was asked for may be asked
 * for again then, and no harm is done where it was carried out already.
 */
export interface SpanStore {
  /** What the place is called where an operator is told of it. */
  readonly name: string
  /**
   * Stores spans, all of them or none: one that is there already, by its trace and its own id, is overwritten (interface 12.14).
   * Answers a sentence if something happened that an operator should know of.
   */
  write(spans: readonly StoredSpan[]): Promise<string | undefined>
  /** The spans of these traces, those of each together in the order in which they began. */
  read(traceIds: readonly string[]): Promise<readonly SpanRow[]>
  /** The page of traces or spans that a question asks for. Refuses with `query_too_slow`, or with `overloaded` when too many wait. */
  query(question: TraceQuestion): Promise<TracePage>
  /** The id of some trace whose references name something whose id ends in these digits; undefined if none does. Refuses as `query`. */
  naming(digits: string): Promise<string | undefined>
  /** Removes a trace; answers whether there was one. */
  remove(traceId: string): Promise<boolean>
  /** Removes a little of what is too old or too much; answers whether more remains. `now` is in milliseconds. */
  retain(retention: TraceRetention, now: number): Promise<boolean>
}

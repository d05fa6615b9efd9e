import type { SpanHint, SpanRow, StoredSpan } from '../../feeds/traces.ts'

/**
 * Spans of all projects in a database that servers share. Methods reject with `DatabaseTrouble` while the database cannot be used, and may
 * then be repeated, whatever happened.
 */
export interface SpanTable {
  /** Resolves when the database can be used. */
  reach(): Promise<void>
  /**
   * Stores spans of a project, all or none. An existing span with the same trace id and span id is overwritten. `upTo` is saved in the same
   * transaction; if it was saved before, nothing is stored.
   */
  write(project: string, spans: readonly StoredSpan[], upTo?: BroughtUpTo): Promise<void>
  /** The last imported trace of a file; undefined if there is none. */
  broughtUpTo(file: string): Promise<string | undefined>
  /** Deletes the saved progress of a file. */
  forgetBrought(file: string): Promise<void>
  /** The spans of these traces, each trace's together, by start time. `headsOnly`: only root spans. */
  spansOf(project: string, traceIds: readonly string[], headsOnly: boolean): Promise<readonly SpanRow[]>
  /** The next rows of a walk. Gives up after `timeoutMs`. */
  walk(project: string, step: WalkStep, timeoutMs: number): Promise<readonly WalkedSpan[]>
  /** The position of a trace or a span, named by both ids, or by the span's id and start time. Undefined if it does not exist. */
  placeOf(project: string, named: NamedRow): Promise<WalkPlace | undefined>
  /** Some spans whose record contains a text, in the order of their keys, after `behind` if given. Gives up after `timeoutMs`. */
  spansWith(
    project: string,
    text: string,
    behind: SpanKey | undefined,
    timeoutMs: number,
  ): Promise<readonly FoundSpan[]>
  /** Removes a trace; answers whether it existed. */
  remove(project: string, traceId: string): Promise<boolean>
  /** Removes some traces of all projects that began before this day, such as `2026-03-01`; answers whether more remain. */
  removeDays(before: string): Promise<boolean>
  /** Removes some of a project's oldest traces if all together have more than `maxBytes`; answers whether more must be removed. */
  shrink(project: string, maxBytes: number): Promise<boolean>
  close(): Promise<void>
}

/** The progress of importing a file: its unique name, and the last imported trace. */
export interface BroughtUpTo {
  readonly file: string
  readonly last: string
}

/** What a walk reads, by start time and then id: traces alone, traces with their spans, or spans. */
export type WalkOf = 'traces' | 'spansByTrace' | 'spans'

/**
 * A row of a walk. `start` is the start time by which it is ordered, in the form of `isoOf`. A walk of traces alone fills only this and the
 * trace id.
 */
export interface WalkedSpan extends SpanRow {
  readonly start: string
}

/** A position in a walk, maybe partial: start time and ids. */
export type WalkPlace = readonly [start: string, ...ids: string[]]

/** The requested rows of a walk: up to `limit`, after `behind` if given. */
export interface WalkStep {
  readonly of: WalkOf
  readonly isAscending: boolean
  readonly hint: SpanHint | undefined
  /** They began at this time or later. */
  readonly from: string | undefined
  /** They began before this time, or at it if that is included. */
  readonly to: { readonly time: string; readonly isIncluded: boolean } | undefined
  /** The last eight digits of the trace id are below this. */
  readonly sampleBound: string | undefined
  readonly behind: WalkPlace | undefined
  readonly limit: number
}

/** A row that a cursor names. */
export type NamedRow =
  | { readonly traceId: string; readonly spanId?: string | undefined }
  | { readonly spanId: string; readonly start: string }

/** A span's key, with the day of its trace's partition. */
export interface SpanKey {
  readonly day: string
  readonly traceId: string
  readonly spanId: string
}

/** A span with its record. */
export interface FoundSpan extends SpanKey {
  readonly record: string
}

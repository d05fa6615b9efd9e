import type { SpanHint } from '../query/filter/span-hint.ts'
import type { SpanRow, StoredSpan } from '../recording/span-record.ts'

/**
 * The spans of all projects in a database that several servers share. Everything rejects with `DatabaseTrouble` while the database cannot
 * be used, and may be asked again then, whatever became of it.
 */
export interface SpanTable {
  /** Resolves once the database can be asked. */
  reach(): Promise<void>
  /**
   * Stores spans of a project, all of them or none; one that is there already, by its trace and its own id, is overwritten. With `upTo` that
   * is noted with them, and nothing is stored where it has been noted already.
   */
  write(project: string, spans: readonly StoredSpan[], upTo?: BroughtUpTo): Promise<void>
  /** The last trace of a file that was noted with spans of it; undefined where none was. */
  broughtUpTo(file: string): Promise<string | undefined>
  /** Forgets what was noted of a file. */
  forgetBrought(file: string): Promise<void>
  /** The spans of these traces, those of each together in the order in which they began; `headsOnly`: those whose parent is not there. */
  spansOf(project: string, traceIds: readonly string[], headsOnly: boolean): Promise<readonly SpanRow[]>
  /** The next rows of a walk. It is given up after so many milliseconds. */
  walk(project: string, step: WalkStep, timeoutMs: number): Promise<readonly WalkedSpan[]>
  /** The place of a trace, or of a span: by both ids, or by its own beside the time at which it began. Undefined where there is none. */
  placeOf(project: string, named: NamedRow): Promise<WalkPlace | undefined>
  /** Spans whose record has a text, a few in the order of their keys, behind one of them if that is given. Given up like a walk. */
  spansWith(
    project: string,
    text: string,
    behind: SpanKey | undefined,
    timeoutMs: number,
  ): Promise<readonly FoundSpan[]>
  /** Removes a trace; answers whether there was one. */
  remove(project: string, traceId: string): Promise<boolean>
  /** Removes some of the traces, of all projects, that began before this day, such as `2026-03-01`; answers whether more remain. */
  removeDays(before: string): Promise<boolean>
  /** Removes some of the oldest traces of a project while all of them have more bytes than this; answers whether more remain to be removed. */
  shrink(project: string, maxBytes: number): Promise<boolean>
  close(): Promise<void>
}

/** How far a file is brought over: the file, by a name that no other has, and the last of its traces. */
export interface BroughtUpTo {
  readonly file: string
  readonly last: string
}

/** What is walked, in the order of the beginnings: traces alone, traces each with its spans, or spans; ids decide between equals. */
export type WalkOf = 'traces' | 'spansByTrace' | 'spans'

/** A row of a walk, and when what orders it began, as `isoOf` writes it. Of traces alone there is nothing else but the id. */
export interface WalkedSpan extends SpanRow {
  readonly start: string
}

/** A row's place in a walk, or as much of it as is known: when it began, and its ids. */
export type WalkPlace = readonly [start: string, ...ids: string[]]

/** Which rows of a walk are wanted: so many at most, behind a place if that is given. */
export interface WalkStep {
  readonly of: WalkOf
  readonly isAscending: boolean
  readonly hint: SpanHint | undefined
  /** They began then or later. */
  readonly from: string | undefined
  /** They began before this time, or at it if that is included. */
  readonly to: { readonly time: string; readonly isIncluded: boolean } | undefined
  /** The last eight digits of the trace's id are below these. */
  readonly sampleBound: string | undefined
  readonly behind: WalkPlace | undefined
  readonly limit: number
}

/** A row that a cursor names. */
export type NamedRow =
  | { readonly traceId: string; readonly spanId?: string | undefined }
  | { readonly spanId: string; readonly start: string }

/** Which span it is, and on which day its trace was begun. */
export interface SpanKey {
  readonly day: string
  readonly traceId: string
  readonly spanId: string
}

/** A span with all that it says. */
export interface FoundSpan extends SpanKey {
  readonly record: string
}

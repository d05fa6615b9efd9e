/** Which traces or spans of those that match, newest first unless ascending (interface 12.11). Times are in microseconds. */
export interface TraceWindow {
  readonly order?: 'ascending' | 'descending' | undefined
  /** They began at this time or later. */
  readonly oldest?: number | undefined
  /** They began before this time; behind a cursor, at it as well. */
  readonly newest?: number | undefined
  /** Behind this one: the `next` of the answer before, or the id of its last row. */
  readonly next?: string | undefined
  readonly limit?: number | undefined
  /** About such a share of all traces, always the same ones. */
  readonly rate?: number | undefined
}

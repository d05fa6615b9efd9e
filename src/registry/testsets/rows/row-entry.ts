import type { Oid } from '../../../git/objects.ts'
import type { RowPosition } from './row-position.ts'

/** The blob of a row's data, and the blob of its flags, tags and meta if it has any. */
export interface RowBlobs {
  readonly oid: Oid
  readonly meta: Oid | undefined
}

/** A row of a revision and its position. */
export interface RowEntry extends RowBlobs {
  readonly position: RowPosition
}

/** The new row at a position; undefined removes it. */
export type RowChange = readonly [position: RowPosition, row: RowBlobs | undefined]

/** Where to begin, and in which direction. */
export interface RowRange {
  /** Only rows after this position, or before it when descending. It need not be a row's position. */
  readonly after?: RowPosition | undefined
  readonly descending?: boolean | undefined
  /** Skips this many rows first; whole folders are skipped by their counts. */
  readonly offset?: number | undefined
}

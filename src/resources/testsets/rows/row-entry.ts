import type { Oid } from '../../../git/objects/object.ts'
import type { RowPosition } from './row-position.ts'

/** What a row is made of: the blob of its data, and the blob of its flags, tags and meta if it has any. */
export interface RowBlobs {
  readonly oid: Oid
  readonly meta: Oid | undefined
}

/** A row of a revision and where it stands. */
export interface RowEntry extends RowBlobs {
  readonly position: RowPosition
}

/** What stands at a position from now on; undefined: nothing. */
export type RowChange = readonly [position: RowPosition, row: RowBlobs | undefined]

/** Where to begin, and in which direction to go. */
export interface RowRange {
  /** Only rows after this position, or before it when descending. It need not be one of a row. */
  readonly after?: RowPosition | undefined
  readonly descending?: boolean | undefined
  /** So many rows are passed by first; whole folders of them by their counts. */
  readonly offset?: number | undefined
}

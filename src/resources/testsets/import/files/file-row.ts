import type { JsonObject } from '../../../../json/json.ts'

/**
 * One row of an uploaded file. Its texts may be slices of a larger one that live as long as they do: who keeps a part of
 * many rows (and not the rows) copies it.
 */
export interface FileRow {
  /** The row's members, top-level keys in the file's order; metadata columns (`__id__` and the like) among them. */
  readonly data: JsonObject
  /** The line of the file the row begins on, counted from 1. */
  readonly line: number
}

/** What a reader of files refuses to take in, whatever the file's size. */
export interface FileLimits {
  /** The most bytes of the file one row may take; what is held in memory grows with this and not with the file. */
  readonly maxRowBytes: number
  /** The most columns of the header or members of one row. */
  readonly maxColumns: number
}

/** How many arrays and objects of a row may be open at once, the row among them. */
export const MAX_ROW_DEPTH = 200

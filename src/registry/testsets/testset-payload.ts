import type { Oid } from '../../git/objects.ts'
import type { StagedPack } from '../../git/packs.ts'
import type { ChangedRows, MetRows, Payload } from '../payload/family.ts'
import type { InputRow } from './import/input-row.ts'
import type { RowBlobs } from './rows/row-entry.ts'
import type { RowPosition } from './rows/row-position.ts'

/** The payload of a testset revision, in one of its stages. */
export type TestsetPayload = StoredTestset | InputTestset | ByIdTestset | CollectedTestset | EditedTestset

/** A testset in a commit. */
export interface StoredTestset {
  readonly kind: 'stored'
  /** The folder of the rows; undefined if there are none. */
  readonly tree: Oid | undefined
  /** The top-level keys of the rows in order of first appearance. */
  readonly columns: readonly string[]
}

/** Rows in a request. */
export interface InputTestset {
  readonly kind: 'sent'
  readonly rows: readonly InputRow[]
}

/** Rows of the testset that a request named by their ids. */
export interface ByIdTestset {
  readonly kind: 'named'
  readonly ids: readonly string[]
  readonly loc: readonly (string | number)[]
}

/** Rows whose blobs are written, in order. */
export interface CollectedTestset {
  readonly kind: 'collected'
  readonly rows: readonly CollectedRow[]
  readonly columns: readonly string[]
  /** What happened to received rows that are not among these. */
  readonly met?: MetRows
  /** Has the blobs, and the folders in `laid`, that the repository may not have. */
  readonly pack?: StagedPack
  /** The folder of the rows when they are laid over those in the folder `onto`; undefined: no rows. */
  readonly laid?: LaidRows & { readonly onto: Oid | undefined }
}

/** Rows that were laid over others: their folder, undefined if there are none, and the changes. */
export interface LaidRows {
  readonly tree: Oid | undefined
  readonly changedRows: ChangedRows
}

/** A row whose blob is written, with its dedup id. */
export interface CollectedRow extends RowBlobs {
  readonly key: string
  /** The hash without the dedup id; see `encodeContent`. */
  readonly contentHash: string
}

/** Changes of a stored testset whose blobs are written. */
export interface EditedTestset {
  readonly kind: 'edited'
  readonly base: StoredTestset
  readonly changes: ReadonlyMap<RowPosition, RowBlobs | undefined>
  readonly columns: readonly string[]
  /** How many rows of the base are among the changes twice: removed at their old place, and set at their new one. */
  readonly moved?: number
  /** What happened to received rows that are not in it. */
  readonly met?: MetRows
}

/** A payload of the testset family. */
export function asTestset(payload: Payload): TestsetPayload {
  return payload as TestsetPayload // the engine passes a family only payloads that it made itself
}

/** A payload that was read from a commit. */
export function asStored(payload: Payload): StoredTestset {
  const testset = asTestset(payload)
  if (testset.kind === 'stored') return testset
  throw new Error(`a testset that is ${testset.kind} was not read from a commit`)
}

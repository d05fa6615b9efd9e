import type { Oid } from '../../git/objects.ts'
import type { StagedPack } from '../../git/packs.ts'
import type { ChangedRows, MetRows, Payload } from '../payload/family.ts'
import type { InputRow } from './import/input-row.ts'
import type { RowBlobs } from './rows/row-entry.ts'
import type { RowPosition } from './rows/row-position.ts'

/** The payload of a testset revision, at one of the stages it goes through. */
export type TestsetPayload = StoredTestset | InputTestset | ByIdTestset | CollectedTestset | EditedTestset

/** As it lies in a commit. */
export interface StoredTestset {
  readonly kind: 'stored'
  /** The folder of the rows; undefined if there are none. */
  readonly tree: Oid | undefined
  /** The top-level keys of the rows in order of first appearance. */
  readonly columns: readonly string[]
}

/** Rows that a request brought. */
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
  /** What became of rows that came in and are none of these. */
  readonly met?: MetRows
  /** Holds those of the blobs, and of the folders in `laid`, that the repository may not have. */
  readonly pack?: StagedPack
  /** The folder that holds the rows when they are laid over those in the folder `onto`; undefined: no rows. */
  readonly laid?: LaidRows & { readonly onto: Oid | undefined }
}

/** Rows that were laid over others: the folder that holds them, undefined if there are none, and what became of the others. */
export interface LaidRows {
  readonly tree: Oid | undefined
  readonly changedRows: ChangedRows
}

/** A row whose blob is written, with its dedup id. */
export interface CollectedRow extends RowBlobs {
  readonly key: string
  /** Of the row without its dedup id; see `encodeContent`. */
  readonly contentHash: string
}

/** Changes of a stored testset whose blobs are written. */
export interface EditedTestset {
  readonly kind: 'edited'
  readonly base: StoredTestset
  readonly changes: ReadonlyMap<RowPosition, RowBlobs | undefined>
  readonly columns: readonly string[]
  /** What became of rows that came in and are none of it. */
  readonly met?: MetRows
}

/** What a payload of the testset family is. */
export function asTestset(payload: Payload): TestsetPayload {
  return payload as TestsetPayload // the engine hands a family only payloads of its own making
}

/** A payload that was read from a commit. */
export function asStored(payload: Payload): StoredTestset {
  const testset = asTestset(payload)
  if (testset.kind === 'stored') return testset
  throw new Error(`a testset that is ${testset.kind} was not read from a commit`)
}

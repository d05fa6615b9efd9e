import { Refusal } from '../../../errors.ts'
import type { GitObject, Oid } from '../../../git/objects.ts'
import { SequentialPackReader } from '../../../git/packs.ts'
import { TimeSlice } from '../../../base/scheduling.ts'
import type { ObjectReader } from '../../payload/tree-files.ts'
import type { RowEntry, RowRange } from './row-entry.ts'
import { rowsOfTree } from './row-tree.ts'

/** Maximum rows, and maximum bytes of rows, that are handled together. */
const AT_ONCE = 512
const LONG = 1024 ** 2

/** An object source that reads many at once faster than one by one. */
interface BulkSource extends ObjectReader {
  readMany?(
    oids: readonly Oid[],
    run?: SequentialPackReader,
    enough?: number,
  ): Promise<readonly (GitObject | undefined)[]>
}

/**
 * The blobs with these ids, in order. Refuses a missing one with `damaged_repository`. Pass the same run for consecutive calls. After
 * `enough` bytes, the rest may be left out.
 */
export async function readBlobs(
  source: BulkSource,
  oids: readonly Oid[],
  run?: SequentialPackReader,
  enough?: number,
): Promise<Buffer[]> {
  const objects = source.readMany
    ? await source.readMany(oids, run, enough)
    : await Promise.all(oids.map((oid) => source.read(oid)))
  return objects.map((object, index) => {
    if (object?.kind === 'blob') return object.bytes
    throw new Refusal(
      'damaged_repository',
      `The row ${oids[index]} is missing from the repository. Restore the repository from a clone.`,
    )
  })
}

/** All rows of a tree, in order; takes 130 bytes of memory per row. */
export async function allRows(
  source: ObjectReader,
  tree: Oid | undefined,
  slice = new TimeSlice(),
): Promise<RowEntry[]> {
  const rows: RowEntry[] = []
  for await (const batch of rowsOfTree(source, tree)) {
    for (const row of batch) rows.push(row)
    if (slice.isOver) await slice.rest()
  }
  return rows
}

/** A batch of rows with the bytes of their data, and of their flags, tags and meta. */
export interface RowBytes {
  readonly row: RowEntry
  readonly data: Buffer
  readonly meta: Buffer | undefined
}

/** The rows of a tree with their blobs; see `rowBytes`. */
export function rowBytesOf(
  source: BulkSource,
  tree: Oid | undefined,
  range: RowRange = {},
  slice = new TimeSlice(),
): AsyncGenerator<readonly RowBytes[]> {
  return rowBytes(source, rowsOfTree(source, tree, range), slice)
}

/**
 * Rows with their blobs, in batches of limited size. Other work runs in between: with a fast disk and a fast client, the loop would
 * otherwise block the server until the last row.
 */
export async function* rowBytes(
  source: BulkSource,
  batches: AsyncIterable<readonly RowEntry[]> | Iterable<readonly RowEntry[]>,
  slice = new TimeSlice(),
): AsyncGenerator<readonly RowBytes[]> {
  const run = new SequentialPackReader()
  let waiting: readonly RowEntry[] = []
  const take = async (): Promise<readonly RowBytes[]> => {
    const rows = await withBytes(source, waiting, run)
    waiting = waiting.slice(rows.length)
    return rows
  }
  for await (const batch of batches) {
    waiting = [...waiting, ...batch]
    while (waiting.length >= AT_ONCE) {
      yield await take()
      if (slice.isOver) await slice.rest()
    }
  }
  while (waiting.length > 0) {
    yield await take()
    if (slice.isOver) await slice.rest()
  }
}

/** Blobs of rows without positions, in the form that `rowBytes` takes. */
export function rowEntriesOf(oids: readonly Oid[]): RowEntry[] {
  return oids.map((oid) => ({ position: '', oid, meta: undefined }))
}

/** The same rows without metadata, to read only their data. */
export function withoutMeta(rows: readonly RowEntry[]): RowEntry[] {
  return rows.map(({ position, oid }) => ({ position, oid, meta: undefined }))
}

/** The first of these rows with their blobs: at least one, and no more than the limit of bytes allows. */
async function withBytes(
  source: BulkSource,
  rows: readonly RowEntry[],
  run: SequentialPackReader,
): Promise<readonly RowBytes[]> {
  const oids = rows.map(({ oid }) => oid)
  const data = await readBlobs(source, oids, run, LONG)
  const metas = rows.slice(0, data.length).flatMap(({ meta }) => meta ?? [])
  const metaBytes = metas.length > 0 ? await readBlobs(source, metas, undefined, LONG) : []
  const found: RowBytes[] = []
  let next = 0
  for (const [index, bytes] of data.entries()) {
    const row = rows[index]
    if (!row || (row.meta !== undefined && next === metaBytes.length)) break
    found.push({ row, data: bytes, meta: row.meta === undefined ? undefined : metaBytes[next++] })
  }
  return found
}

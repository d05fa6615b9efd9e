import { setImmediate as nextTurn } from 'node:timers/promises'
import { Refusal } from '../../errors.ts'
import { TimeSlice } from '../../time-slice.ts'
import type { GitObject, Oid } from '../../git/object.ts'
import { PackRun } from '../../git/pack-run.ts'
import type { ObjectSource } from '../../versioning/tree-files.ts'
import type { RowEntry, RowRange } from './row-tree.ts'
import { rowsOf } from './row-tree.ts'

/** How many blobs are read together. */
const AT_ONCE = 512

/** An object source that reads many at once faster than one by one. */
interface BulkSource extends ObjectSource {
  readMany?(oids: readonly Oid[], run?: PackRun): Promise<readonly (GitObject | undefined)[]>
}

/**
 * The blobs with these ids, in order. Refuses with `damaged_repository` what is missing. Give the same run for all that follow one
 * another.
 */
export async function readBlobs(source: BulkSource, oids: readonly Oid[], run?: PackRun): Promise<Buffer[]> {
  const objects = source.readMany
    ? await source.readMany(oids, run)
    : await Promise.all(oids.map((oid) => source.read(oid)))
  return objects.map((object, index) => {
    if (object?.kind === 'blob') return object.bytes
    throw new Refusal(
      'damaged_repository',
      `The row ${oids[index]} is missing from the repository. Restore the repository from a clone.`,
    )
  })
}

/** All rows of a tree, in order: 130 bytes of memory each. */
export async function allRows(
  source: ObjectSource,
  tree: Oid | undefined,
  slice = new TimeSlice(),
): Promise<RowEntry[]> {
  const rows: RowEntry[] = []
  for await (const batch of rowsOf(source, tree)) {
    for (const row of batch) rows.push(row)
    if (slice.isOver) await slice.rest()
  }
  return rows
}

/** Rows with the bytes of their data, and of their flags, tags and meta, some at a time. */
export interface RowBytes {
  readonly row: RowEntry
  readonly data: Buffer
  readonly meta: Buffer | undefined
}

/** The rows of a tree with their blobs. Others have their turn between two batches. */
export async function* rowBytesOf(
  source: BulkSource,
  tree: Oid | undefined,
  range: RowRange = {},
): AsyncGenerator<readonly RowBytes[]> {
  const run = new PackRun()
  let waiting: RowEntry[] = []
  for await (const batch of rowsOf(source, tree, range)) {
    waiting.push(...batch)
    if (waiting.length < AT_ONCE) continue
    yield await withBytes(source, waiting, run)
    waiting = []
    // A file system and a client that are quick enough would otherwise keep everybody else waiting until the last row.
    await nextTurn()
  }
  if (waiting.length > 0) yield await withBytes(source, waiting, run)
}

/** These rows with their blobs; `run` as `readBlobs` has it. */
export async function withBytes(
  source: BulkSource,
  rows: readonly RowEntry[],
  run?: PackRun,
): Promise<RowBytes[]> {
  const data = await readBlobs(
    source,
    rows.map(({ oid }) => oid),
    run,
  )
  const metas = rows.flatMap(({ meta }) => meta ?? [])
  const metaBytes = metas.length > 0 ? await readBlobs(source, metas) : []
  let next = 0
  return rows.map((row, index) => ({
    row,
    data: data[index] ?? Buffer.alloc(0),
    meta: row.meta === undefined ? undefined : metaBytes[next++],
  }))
}

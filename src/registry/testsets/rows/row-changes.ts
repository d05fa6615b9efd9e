import { Refusal } from '../../../errors.ts'
import type { HistoryNode } from '../../../git/history.ts'
import { parseCommit, type Oid } from '../../../git/objects.ts'
import type { TimeSlice } from '../../../base/scheduling.ts'
import { CacheFile } from '../../../storage/files.ts'
import type { ObjectReader } from '../../payload/tree-files.ts'
import { readBytes, readTree } from '../../payload/tree-files.ts'
import { objectUuid, oidPrefix } from '../../store/ids.ts'
import type { Window, Windowing } from '../../store/pagination.ts'
import { unknownCursor } from '../../store/pagination.ts'
import type { VariantLocation } from '../../revisions/references.ts'
import { rowKeys } from '../dedup/row-index.ts'
import { keyOfDedupId, ROW_KEYS_FILE } from '../dedup/row-keys.ts'
import { rowsIn } from '../testset-tree.ts'
import type { RowEntry } from './row-entry.ts'
import { decodeRowFolder } from './row-folder.ts'
import { countRows, rowCounts } from './row-tree.ts'
import { decodeRow, dedupIdOf } from './stored-row.ts'

/** What a revision did to a row; `row` is undefined if it was removed. */
export interface ChangeOfRow {
  readonly kind: 'added' | 'changed' | 'removed'
  readonly oid: Oid
  readonly version: number
  readonly row: RowEntry | undefined
}

/**
 * The changes of the row with this dedup id along a variant, newest first; a move alone is no change. A
 * revision that did not touch the folders on the row's path is not read further. Throws `invalid_cursor` if
 * the cursor is no revision of the variant.
 */
export async function changesOfRow(
  { artifact, variant }: VariantLocation,
  dedupId: string,
  { limit, next }: Pick<Windowing, 'limit' | 'next'>,
  slice: TimeSlice,
): Promise<Window<ChangeOfRow>> {
  const { repository, digits } = artifact
  const finder = new RowFinder(repository, dedupId, slice)
  const head = variant.head === undefined ? undefined : await repository.history.node(variant.head)
  const rows: ChangeOfRow[] = []
  let node = next === undefined ? head : behind(head, next, digits)
  let state = node && (await finder.stateOf(node.oid))
  while (node && state) {
    const before: RowState = node.parent ? await finder.stateBefore(node.parent.oid, state) : NOWHERE
    const kind = kindOf(before.found?.row, state.found?.row)
    if (kind) {
      const last = rows.at(-1)
      if (last && rows.length === limit) return { rows, next: objectUuid(last.oid, digits) }
      rows.push({ kind, oid: node.oid, version: node.depth, row: state.found?.row })
    }
    node = node.parent
    state = before
    await slice.pause()
  }
  return { rows, next: undefined }
}

/** The revision before the cursor's. */
function behind(head: HistoryNode | undefined, next: string, digits: string): HistoryNode | undefined {
  const prefix = oidPrefix(next)
  for (let node = head; node; node = node.parent)
    if (node.oid.startsWith(prefix) && objectUuid(node.oid, digits) === next) return node.parent
  throw unknownCursor(next)
}

function kindOf(before: RowEntry | undefined, now: RowEntry | undefined): ChangeOfRow['kind'] | undefined {
  if (!before || !now) return now ? 'added' : before ? 'removed' : undefined
  return before.oid === now.oid && before.meta === now.meta ? undefined : 'changed'
}

/** A revision's folder of rows, and the row in it. */
interface RowState {
  readonly tree: Oid | undefined
  readonly found: LocatedRow | undefined
}

const MAX_ROWS_SEARCHED = 10_000_000

/**
 * Throws `damaged_repository` if a tree has too many rows. Call it before walking rows: a tree may repeat one
 * folder, and the walk would never end. `path` is the repository's.
 */
export async function assertFewRows(
  source: ObjectReader,
  tree: Oid | undefined,
  path: string,
  slice: TimeSlice,
): Promise<void> {
  if ((await countRows(source, tree, rowCounts, slice)) <= MAX_ROWS_SEARCHED) return
  throw new Refusal(
    'damaged_repository',
    `A revision of ${path} has more than ${MAX_ROWS_SEARCHED} rows. Commit a repaired version with git.`,
  )
}

const NOWHERE: RowState = { tree: undefined, found: undefined }

/** Finds the row of one dedup id in the revisions of a testset. */
class RowFinder {
  readonly #repository: VariantLocation['artifact']['repository']
  readonly #dedupId: string
  readonly #slice: TimeSlice

  constructor(repository: VariantLocation['artifact']['repository'], dedupId: string, slice: TimeSlice) {
    this.#repository = repository
    this.#dedupId = dedupId
    this.#slice = slice
  }

  async stateOf(commit: Oid): Promise<RowState> {
    const tree = await this.#rowsOf(commit)
    return { tree, found: tree === undefined ? undefined : await this.#search(tree) }
  }

  /** The state of the previous commit, given the state after it. */
  async stateBefore(commit: Oid, after: RowState): Promise<RowState> {
    const tree = await this.#rowsOf(commit)
    if (tree === undefined) return NOWHERE
    if (tree === after.tree) return after
    const there = after.found && (await sameRowIn(this.#repository.objects, tree, after.found))
    const isIt = there && (there.row.oid === after.found?.row.oid || (await this.#isWanted(there.row.oid)))
    return { tree, found: isIt ? there : await this.#search(tree) }
  }

  async #rowsOf(commit: Oid): Promise<Oid | undefined> {
    const { objects } = this.#repository
    return rowsIn(await readTree(objects, parseCommit(await readBytes(objects, commit, 'commit')).tree))
  }

  async #search(tree: Oid): Promise<LocatedRow | undefined> {
    const row = await rowOfDedupId(this.#repository, tree, this.#dedupId, this.#slice)
    return row && sameRowIn(this.#repository.objects, tree, { row, trees: [] })
  }

  async #isWanted(oid: Oid): Promise<boolean> {
    return (await dedupIdIn(this.#repository.objects, oid)) === this.#dedupId
  }
}

/**
 * Finds the row with this dedup id in a tree of rows by the cached keys; undefined if there is none. A push
 * may repeat a dedup id; the last row wins. Throws `damaged_repository` if the tree has too many rows.
 */
export async function rowOfDedupId(
  { objects, fs, path }: VariantLocation['artifact']['repository'],
  tree: Oid | undefined,
  dedupId: string,
  slice: TimeSlice,
): Promise<RowEntry | undefined> {
  await assertFewRows(objects, tree, path, slice)
  const file = new CacheFile(fs, `${path}/${ROW_KEYS_FILE}`)
  const found = await rowKeys.candidates(objects, tree, new Set([keyOfDedupId(dedupId)]), file)
  for (const { position, oid } of found.toReversed())
    if ((await dedupIdIn(objects, oid)) === dedupId) return { position, oid, meta: undefined }
  return undefined
}

async function dedupIdIn(source: ObjectReader, oid: Oid): Promise<string | undefined> {
  return dedupIdOf(decodeRow(await readBytes(source, oid, 'blob'), () => `the row ${oid}`))
}

/** A row, and the trees on the path to it, root first. */
interface LocatedRow {
  readonly row: RowEntry
  readonly trees: readonly Oid[]
}

/**
 * The row at the same position in another tree, if any. Reads only folders that differ: below an equal folder
 * the path is equal.
 */
async function sameRowIn(
  source: ObjectReader,
  tree: Oid,
  { row, trees: before }: LocatedRow,
): Promise<LocatedRow | undefined> {
  const { position } = row
  const trees: Oid[] = []
  let next: Oid | undefined = tree
  for (let depth = 0; next !== undefined && depth < position.length; depth++) {
    if (next === before[depth]) return { row, trees: [...trees, ...before.slice(depth)] }
    trees.push(next)
    const folder = decodeRowFolder(await readBytes(source, next, 'tree'))
    const byte = position.charCodeAt(depth)
    const oid = folder.rows[byte]
    if (depth === position.length - 1 && oid !== undefined)
      return { row: { position, oid, meta: folder.metas[byte] }, trees }
    next = folder.folders[byte]
  }
  return undefined
}

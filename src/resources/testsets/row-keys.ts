import { hash } from 'node:crypto'
import { BoundedCache } from '../../git/bounded-cache.ts'
import type { Oid } from '../../git/object.ts'
import type { ObjectSource } from '../../versioning/tree-files.ts'
import { readBytes } from '../../versioning/tree-files.ts'
import { decodeRowFolder } from './row-folder.ts'
import { isTooDeep, type RowPosition } from './row-position.ts'
import { contentOf, decodeRow, dedupIdOf, encodeContent } from './stored-row.ts'
import { readBlobs } from './stored-rows.ts'

/**
 * Which rows of a testset may have a certain content or dedup id: the first 32 bits of the SHA-1 of both for every row, by
 * folder. A folder never changes under its id, so after a change only the folders on its path are looked at again: asking
 * costs a comparison a row, not a blob a row.
 */
export class RowKeys {
  readonly #folders = new BoundedCache<Oid, FolderKeys>(64 * 1024 * 1024, ({ keys }) => keys.byteLength + 200)

  /** The rows whose keys agree with any of these; whether content or dedup id really do is for the caller to compare. */
  async candidates(
    source: ObjectSource,
    tree: Oid | undefined,
    wanted: ReadonlySet<number>,
  ): Promise<readonly { readonly position: RowPosition; readonly oid: Oid }[]> {
    const found: { position: RowPosition; oid: Oid }[] = []
    if (tree !== undefined) await this.#collect(source, tree, '', wanted, found)
    return found
  }

  /** Takes in what is known of all rows of a tree that was just written, in their order, so that no blob need be read for it. */
  async seed(
    source: ObjectSource,
    tree: Oid,
    rows: Iterator<{ readonly key: string; readonly contentHash: string }>,
  ): Promise<void> {
    const folder = decodeRowFolder(await readBytes(source, tree, 'tree'))
    const bytes: number[] = []
    const keys: number[] = []
    const folders: [number, Oid][] = []
    for (let byte = 0; byte < 256; byte++) {
      if (folder.rows[byte] !== undefined) {
        const { value: row, done } = rows.next()
        if (done) return
        bytes.push(byte)
        keys.push(keyOfContent(row.contentHash), keyOfDedupId(row.key))
      }
      const below = folder.folders[byte]
      if (below === undefined) continue
      folders.push([byte, below])
      await this.seed(source, below, rows)
    }
    this.#folders.set(tree, { bytes: Uint8Array.from(bytes), keys: Uint32Array.from(keys), folders })
  }

  async #collect(
    source: ObjectSource,
    tree: Oid,
    prefix: RowPosition,
    wanted: ReadonlySet<number>,
    found: { position: RowPosition; oid: Oid }[],
  ): Promise<void> {
    if (isTooDeep(prefix)) return
    const known = this.#folders.get(tree)
    const folder = known ?? (await readFolderKeys(source, tree))
    if (!known) this.#folders.set(tree, folder)
    const { bytes, keys } = folder
    for (const index of indexesOf(keys, wanted)) {
      const byte = bytes[index >> 1] ?? 0
      const oid = decodeRowFolder(await readBytes(source, tree, 'tree')).rows[byte]
      if (oid !== undefined) found.push({ position: prefix + String.fromCharCode(byte), oid })
    }
    for (const [byte, oid] of folder.folders)
      await this.#collect(source, oid, prefix + String.fromCharCode(byte), wanted, found)
  }
}

/** The key of a content hash or dedup id. */
export function keyOfContent(contentHashHex: string): number {
  return Number.parseInt(contentHashHex.slice(0, 8), 16)
}

export function keyOfDedupId(dedupId: string): number {
  return Number.parseInt(hash('sha1', dedupId, 'hex').slice(0, 8), 16)
}

/** Where these values stand. `indexOf` compares many at once, so for few values it is ten times as fast as a look at each. */
function indexesOf(keys: Uint32Array, wanted: ReadonlySet<number>): number[] {
  const found: number[] = []
  if (wanted.size > FEW) {
    for (let index = 0; index < keys.length; index++) if (wanted.has(keys[index] ?? 0)) found.push(index)
    return found
  }
  for (const value of wanted) {
    for (let index = keys.indexOf(value); index >= 0; index = keys.indexOf(value, index + 1))
      found.push(index)
  }
  return found
}

const FEW = 16

/** For each row of one folder, in order: its byte, and two keys. */
interface FolderKeys {
  readonly bytes: Uint8Array
  readonly keys: Uint32Array
  readonly folders: readonly (readonly [byte: number, tree: Oid])[]
}

async function readFolderKeys(source: ObjectSource, tree: Oid): Promise<FolderKeys> {
  const folder = decodeRowFolder(await readBytes(source, tree, 'tree'))
  const rows: [number, Oid][] = []
  const folders: [number, Oid][] = []
  for (let byte = 0; byte < 256; byte++) {
    const [row, below] = [folder.rows[byte], folder.folders[byte]]
    if (row !== undefined) rows.push([byte, row])
    if (below !== undefined) folders.push([byte, below])
  }
  const keys = new Uint32Array(rows.length * 2)
  const blobs = await readBlobs(
    source,
    rows.map(([, oid]) => oid),
  )
  for (const [index, bytes] of blobs.entries()) {
    const data = decodeRow(bytes)
    keys[index * 2] = keyOfContent(encodeContent(contentOf(data)).hash)
    keys[index * 2 + 1] = keyOfDedupId(dedupIdOf(data) ?? '')
  }
  return { bytes: Uint8Array.from(rows, ([byte]) => byte), keys, folders }
}

import { Refusal } from '../../../errors.ts'
import type { Oid } from '../../../git/objects.ts'

/**
 * One folder of rows: the entries by their kind, each list by the byte in the name. A leaf has up to 255 rows, and a million rows have four
 * thousand leaves. So this reads and writes the bytes of a tree object directly (gitformat: `<mode> <name>\0<20 bytes of id>`), in a third
 * of the time that a list of entries takes.
 */
export interface RowFolder {
  /** `05.json`: the row's blob. */
  readonly rows: (Oid | undefined)[]
  /** `05.meta.json`: its flags, tags and meta. */
  readonly metas: (Oid | undefined)[]
  /** `05/`: the tree one level deeper. */
  readonly folders: (Oid | undefined)[]
  /** All other entries, unchanged: they were pushed, and changes of rows must keep them. */
  readonly others: OtherEntry[]
}

/** An entry that is not a row: `key` is its name in latin1, with the slash by which git sorts folders. */
export interface OtherEntry {
  readonly key: string
  readonly bytes: Buffer
}

export type RowNameKind = 'row' | 'meta' | 'folder' | 'other'

/** Called for each entry of a folder: its byte (-1 for `other`), and the positions of the entry and of its id. */
export type RowVisitor = (kind: RowNameKind, byte: number, entryAt: number, oidAt: number) => void

/** Bytes of an id in a tree object. */
export const OID_BYTES = 20

/**
 * Visits the entries of a tree object. A row is a regular file `XX.json`, two lower-case hex digits but not 00. Other names, and links or
 * submodules with a row's name, are `other`. Refuses bytes that are not a tree.
 */
export function scanRowFolder(bytes: Buffer, visit: RowVisitor): void {
  for (let at = 0; at < bytes.length;) {
    const space = find(SPACE, bytes, at)
    const end = find(0, bytes, space)
    if (end + OID_BYTES >= bytes.length) {
      throw new Refusal(
        'damaged_repository',
        'A folder of testcases is cut short; run git fsck in the repository to find its tree.',
      )
    }
    const kind = kindOf(bytes, at, space, end)
    visit(kind, kind === 'other' ? -1 : byteAt(bytes, space + 1), at, end + 1)
    at = end + 1 + OID_BYTES
  }
}

/** An empty folder. */
export function emptyRowFolder(): RowFolder {
  return { rows: new Array(256), metas: new Array(256), folders: new Array(256), others: [] }
}

/** Reads a tree object; refuses bytes that are not a tree. */
export function decodeRowFolder(bytes: Buffer): RowFolder {
  const folder = emptyRowFolder()
  scanRowFolder(bytes, (kind, byte, entryAt, oidAt) => {
    if (kind === 'other') folder.others.push(otherEntry(bytes, entryAt, oidAt))
    else folder[LIST_OF[kind]][byte] = bytes.toString('hex', oidAt, oidAt + OID_BYTES)
  })
  return folder
}

/**
 * The bytes of the tree object, undefined if it is empty. A row, its meta or a folder of rows replaces another entry of its name, because a
 * tree cannot have two entries of one name.
 */
export function encodeRowFolder(folder: RowFolder): Buffer | undefined {
  const others = othersInOrder(folder)
  const size = sizeOf(folder, others)
  if (size === 0) return undefined
  // A separate buffer, because trees are cached: a slice would keep the whole shared buffer.
  const bytes = Buffer.allocUnsafeSlow(size)
  let at = 0
  let other = 0
  const putOthers = (before: string | undefined): void => {
    for (; other < others.length; other++) {
      const entry = others[other]
      if (!entry || (before !== undefined && entry.key > before)) return
      at += entry.bytes.copy(bytes, at)
    }
  }
  const put = (name: RowName | undefined, oid: Oid | undefined): void => {
    if (name === undefined || oid === undefined) return
    if (other < others.length) putOthers(name.key)
    at += name.head.copy(bytes, at)
    at += bytes.write(oid, at, OID_BYTES, 'hex')
  }
  for (let byte = 0; byte < 256; byte++) {
    put(ROW_NAMES[byte], folder.rows[byte])
    put(META_NAMES[byte], folder.metas[byte])
    put(FOLDER_NAMES[byte], folder.folders[byte])
  }
  putOthers(undefined)
  return bytes
}

const SPACE = 0x20

/** The next position of the byte, or the length: for such short distances a loop is faster than `indexOf`. */
function find(byte: number, bytes: Buffer, from: number): number {
  let at = from
  while (at < bytes.length && bytes[at] !== byte) at++
  return at
}

/** The name of a row, its meta or a folder: the key by which git sorts, and the bytes before the id. */
interface RowName {
  readonly key: string
  readonly head: Buffer
}

const ROW_NAMES = rowNames('100644', '.json')
const META_NAMES = rowNames('100644', '.meta.json')
const FOLDER_NAMES = rowNames('40000', '')

function rowNames(mode: string, ending: string): readonly RowName[] {
  return Array.from({ length: 256 }, (_, byte) => {
    const name = byte.toString(16).padStart(2, '0') + ending
    return { key: ending === '' ? `${name}/` : name, head: Buffer.from(`${mode} ${name}\0`) }
  })
}

function kindOf(bytes: Buffer, at: number, space: number, end: number): RowNameKind {
  const byte = byteAt(bytes, space + 1)
  if (byte < 0) return 'other'
  const length = end - space - 1
  if (length === 2) return isFolder(bytes, at, space) ? 'folder' : 'other'
  if (byte === 0 || !isRegular(bytes, at, space)) return 'other'
  if (length === ROW_LENGTH && endsWith(bytes, ROW_ENDING, end)) return 'row'
  return length === META_LENGTH && endsWith(bytes, META_ENDING, end) ? 'meta' : 'other'
}

const ROW_ENDING = Buffer.from('.json')
const META_ENDING = Buffer.from('.meta.json')
const ROW_LENGTH = 2 + ROW_ENDING.length
const META_LENGTH = 2 + META_ENDING.length

/** The byte of two lower-case hex digits; negative if they are something else. */
function byteAt(bytes: Buffer, at: number): number {
  return digit(bytes[at]) * 16 + digit(bytes[at + 1])
}

function digit(code = 0): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  return code >= 0x61 && code <= 0x66 ? code - 0x57 : -256
}

/** Mode 100644, 100755 or one that git treats the same (100664 in old trees). */
function isRegular(bytes: Buffer, at: number, space: number): boolean {
  return space - at === 6 && bytes[at] === 0x31 && bytes[at + 1] === 0x30
}

/** Mode 40000, in some old trees with a zero before it. */
function isFolder(bytes: Buffer, at: number, space: number): boolean {
  const first = bytes[at] === 0x30 ? at + 1 : at
  return space - first === 5 && bytes[first] === 0x34
}

function endsWith(bytes: Buffer, ending: Buffer, end: number): boolean {
  const start = end - ending.length
  for (let at = 0; at < ending.length; at++) if (bytes[start + at] !== ending[at]) return false
  return true
}

const LIST_OF = { row: 'rows', meta: 'metas', folder: 'folders' } as const

function otherEntry(bytes: Buffer, entryAt: number, oidAt: number): OtherEntry {
  const space = bytes.indexOf(SPACE, entryAt)
  const name = bytes.toString('latin1', space + 1, oidAt - 1)
  return {
    key: isFolder(bytes, entryAt, space) ? `${name}/` : name,
    bytes: bytes.subarray(entryAt, oidAt + OID_BYTES),
  }
}

/** The other entries, in git's order, unless their names are taken. */
function othersInOrder(folder: RowFolder): readonly OtherEntry[] {
  if (folder.others.length === 0) return []
  const isTaken = ({ key }: OtherEntry): boolean => {
    const name = key.endsWith('/') ? key.slice(0, -1) : key
    const byte = byteAt(Buffer.from(name, 'latin1'), 0)
    return [
      [ROW_NAMES, folder.rows, name] as const,
      [META_NAMES, folder.metas, name] as const,
      [FOLDER_NAMES, folder.folders, `${name}/`] as const,
    ].some(([names, oids, wanted]) => oids[byte] !== undefined && names[byte]?.key === wanted)
  }
  return folder.others.filter((entry) => !isTaken(entry)).sort((a, b) => (a.key < b.key ? -1 : 1))
}

function sizeOf(folder: RowFolder, others: readonly OtherEntry[]): number {
  let size = others.reduce((sum, entry) => sum + entry.bytes.length, 0)
  for (let byte = 0; byte < 256; byte++) {
    if (folder.rows[byte] !== undefined) size += (ROW_NAMES[byte]?.head.length ?? 0) + OID_BYTES
    if (folder.metas[byte] !== undefined) size += (META_NAMES[byte]?.head.length ?? 0) + OID_BYTES
    if (folder.folders[byte] !== undefined) size += (FOLDER_NAMES[byte]?.head.length ?? 0) + OID_BYTES
  }
  return size
}

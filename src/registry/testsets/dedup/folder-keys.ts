import type { Oid } from '../../../git/objects.ts'
import { OID_BYTES } from '../rows/row-folder.ts'

/** The rows of one folder in order: the byte that names each row, and its two 32-bit keys. */
export interface FolderKeys {
  readonly bytes: Uint8Array
  readonly keys: Uint32Array
  readonly folders: readonly (readonly [byte: number, tree: Oid])[]
}

/**
 * Encodes folders for the cache file. Each folder is its tree id, its row count (one byte), its subfolder
 * count (two bytes), the rows' bytes, their keys (32 bits each, little-endian), then the byte and id of each
 * subfolder.
 */
export function encodeFolderKeys(folders: Iterable<readonly [Oid, FolderKeys]>): Buffer {
  const pieces: Buffer[] = []
  for (const [tree, { bytes, keys, folders: below }] of folders) {
    const head = Buffer.alloc(OID_BYTES + 3)
    head.write(tree, 0, 'hex')
    head.writeUInt8(bytes.length, OID_BYTES)
    head.writeUInt16LE(below.length, OID_BYTES + 1)
    pieces.push(head, Buffer.from(bytes), Buffer.from(keys.buffer, keys.byteOffset, keys.byteLength))
    for (const [byte, oid] of below) pieces.push(Buffer.from([byte]), Buffer.from(oid, 'hex'))
  }
  return Buffer.concat(pieces)
}

export function* decodeFolderKeys(content: Buffer): Generator<readonly [Oid, FolderKeys]> {
  for (let at = 0; at < content.length;) {
    const tree = content.toString('hex', at, (at += OID_BYTES))
    const rows = content.readUInt8(at)
    const below = content.readUInt16LE(at + 1)
    at += 3
    const bytes = Uint8Array.from(content.subarray(at, (at += rows)))
    const keys = new Uint32Array(rows * 2)
    for (let index = 0; index < keys.length; index++, at += 4) keys[index] = content.readUInt32LE(at)
    const folders: [number, Oid][] = []
    for (let index = 0; index < below; index++) {
      const byte = content.readUInt8(at)
      folders.push([byte, content.toString('hex', at + 1, (at += 1 + OID_BYTES))])
    }
    yield [tree, { bytes, keys, folders }]
  }
}

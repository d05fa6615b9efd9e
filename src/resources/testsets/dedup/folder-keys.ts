import type { Oid } from '../../../git/objects/object.ts'
import { OID_BYTES } from '../rows/row-folder.ts'

/** What is known of the rows of one folder, in order: the byte that names each, and two keys of 32 bits. */
export interface FolderKeys {
  readonly bytes: Uint8Array
  readonly keys: Uint32Array
  readonly folders: readonly (readonly [byte: number, tree: Oid])[]
}

/**
 * Folders one after the other as a file keeps them: the tree's id, how many rows (a byte) and folders below (two), then the
 * rows' bytes, their keys (32 bits each, little-endian), and for each folder below its byte and its id.
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

/** Reads what `encodeFolderKeys` wrote. */
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

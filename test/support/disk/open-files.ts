import type { FileStat, ReadHandle } from '../../../src/storage/files/fs.ts'
import type { DiskFile, DiskNode } from './disk-nodes.ts'

/** What a stat of it says. */
export function statOf(node: DiskNode | undefined): FileStat | undefined {
  if (!node) return undefined
  const { kind, modified, inode } = node
  return kind === 'file'
    ? { kind, size: node.bytes.length, modified, inode, device: 1, links: node.links }
    : { kind, size: node.entries.size, modified, inode, device: 1, links: 1 }
}

/** A file that is open for reading. */
export function readHandle(file: DiskFile): ReadHandle {
  return {
    size: file.bytes.length,
    read: (target, position) => readInto(file, target, position),
    close: () => undefined,
  }
}

/** Fills the target with what the file holds from there on, and answers how many bytes that were. */
export function readInto({ bytes }: DiskFile, target: Uint8Array, position: number): number {
  return bytes.copy(target, 0, Math.min(position, bytes.length))
}

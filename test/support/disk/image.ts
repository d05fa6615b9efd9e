import { createHash } from 'node:crypto'
import type { DiskNode } from './disk-nodes.ts'
import type { DiskState } from './disk-names.ts'

const known = new WeakMap<Buffer, string>()

/** A hash of all names and bytes on a disk: equal for disks from which the same server starts. */
export function imageOf({ root }: DiskState): string {
  const hash = createHash('sha1')
  const look = (name: string, node: DiskNode): void => {
    if (node.kind === 'file') hash.update(`${name} ${hashOf(node.bytes)}\n`)
    else {
      hash.update(`${name}/\n`)
      for (const child of [...node.entries.keys()].sort()) {
        const below = node.entries.get(child)
        if (below) look(child, below)
      }
      hash.update('..\n')
    }
  }
  look('', root)
  return hash.digest('base64')
}

function hashOf(bytes: Buffer): string {
  let hash = known.get(bytes)
  if (hash === undefined) known.set(bytes, (hash = createHash('sha1').update(bytes).digest('base64')))
  return hash
}

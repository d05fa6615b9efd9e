import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { decodeJournal } from '../../../src/git/journal/journal-record.ts'
import { nodeFs } from '../../../src/storage/files/node-fs.ts'
import { isIndex, pathsBelow } from '../../support/disk/paths-below.ts'

/**
 * Every file and folder of a store, with the size of each file, in order: what must not change when a request is refused.
 * Leaves out the journal of the running server, the empty files it has ready, the locks it made and the index, which say nothing of what
 * is stored.
 */
export function storeFiles(storeDir: string): string[] {
  return pathsBelow(storeDir)
    .filter((path) => !isIndex(path))
    .filter(
      (path) =>
        !/(?:^|\/)(?:(?:\.journal|\.servers|locks|\.uploads)(?:\/[^/]*)?|\.spare(?:\/.*)?)$/.test(path) ||
        isUpload(path),
    )
    .map((path) => {
      const stat = statSync(join(storeDir, path), { throwIfNoEntry: false })
      return stat?.isFile() ? `${path} ${stat.size}` : path
    })
    .sort()
}

/** The same once the server has settled what it wrote: then it puts no packs together any more. */
export async function settledFiles(storeDir: string): Promise<string[]> {
  const folder = join(storeDir, '.journal')
  const isSettled = (name: string): boolean =>
    decodeJournal(nodeFs.readFile(join(folder, name)) ?? Buffer.alloc(0)).length === 0
  while (!readdirSync(folder).every(isSettled)) await pause(50)
  return storeFiles(storeDir)
}

/** An uploaded file in the folder for them, which itself comes with the first of them. */
function isUpload(path: string): boolean {
  return path.includes('.uploads/')
}

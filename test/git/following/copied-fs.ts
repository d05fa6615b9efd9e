import { dirname } from 'node:path/posix'
import type { Fs } from '../../../src/storage/files/fs.ts'
import { memoryFs } from '../../../src/storage/memory-fs.ts'

/** A file system in memory that holds what another holds below a folder, but for locks: those of a process that is dead. */
export function copiedFs(from: Fs, folder: string): Fs {
  const to = memoryFs()
  const copy = (path: string): void => {
    if (from.stat(path)?.kind === 'folder') {
      to.makeDir(path)
      for (const name of from.readDir(path) ?? []) copy(`${path}/${name}`)
    } else if (!path.endsWith('.lock') && !dirname(path).endsWith('/locks')) {
      to.create(path, from.readFile(path) ?? Buffer.alloc(0))
    }
  }
  copy(folder)
  return to
}

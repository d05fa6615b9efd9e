import { dirname } from 'node:path/posix'
import { TimeSlice } from '../../scheduling/cooperative.ts'
import type { Fs } from '../../storage/fs.ts'

/**
 * Makes the files of these notes, if they are not there; they are on the disk when it resolves, and so are all other names in their
 * folders.
 */
export async function keepNotes(fs: Fs, store: string, paths: readonly string[]): Promise<void> {
  await new TimeSlice().each(paths, (name) => {
    const path = `${store}/${name}`
    if (isNotePath(name) && fs.stat(dirname(path)) && !fs.stat(path)) make(fs, path)
    return undefined
  })
  await syncFolders(fs, store, paths)
}

/** Syncs the folders of these notes. */
export async function syncFolders(fs: Fs, store: string, paths: readonly string[]): Promise<void> {
  const folders = new Set(paths.filter(isNotePath).map((path) => `${store}/${dirname(path)}`))
  for (const folder of folders) if (fs.stat(folder)) await fs.syncDir(folder)
}

/** Another process may have made it just now. */
function make(fs: Fs, path: string): void {
  try {
    fs.create(path, Buffer.alloc(0))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/** A file of a folder of a project, that could not lead elsewhere. */
export function isNotePath(path: string): boolean {
  return /^(?:[\w-][\w.-]*\/){2}[\w-][\w.-]*$/.test(path)
}

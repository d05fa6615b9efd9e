import { dirname } from 'node:path/posix'
import type { Fs } from './fs.ts'
import type { JournalRecord } from './journal-record.ts'

/** What of a journal record is needed to sync what it put in place. */
export interface TouchedRecord {
  readonly repository: string
  readonly moves: JournalRecord['moves']
  readonly name: string | undefined
}

/** So many repositories are synced at the same time. */
const AT_ONCE = 4

/**
 * Syncs the packs, refs and folders that journal records tell of, as far as they are still there (a pack that was rolled up
 * is in a pack that was synced before).
 */
export async function syncTouched(fs: Fs, store: string, records: readonly TouchedRecord[]): Promise<void> {
  const touched = new Map<string, { files: Set<string>; folders: Set<string> }>()
  for (const { repository, moves, name } of records) {
    const gitdir = `${store}/${repository}`
    const { files, folders } = touched.get(gitdir) ?? { files: new Set(), folders: new Set() }
    touched.set(gitdir, { files, folders })
    if (name !== undefined) {
      files.add(`${gitdir}/objects/pack/${name}.pack`).add(`${gitdir}/objects/pack/${name}.idx`)
      folders.add(`${gitdir}/objects/pack`)
    }
    for (const { ref } of moves) {
      files.add(`${gitdir}/${ref}`)
      // The folder of the ref may be new itself.
      for (let path = dirname(`${gitdir}/${ref}`); path.length >= gitdir.length; path = dirname(path)) {
        folders.add(path)
      }
    }
  }
  const repositories = [...touched]
  while (repositories.length > 0) {
    await Promise.all(
      repositories.splice(0, AT_ONCE).map(([, it]) => syncRepository(fs, it.files, it.folders)),
    )
  }
}

async function syncRepository(
  fs: Fs,
  files: ReadonlySet<string>,
  folders: ReadonlySet<string>,
): Promise<void> {
  for (const file of files) await fs.sync(file)
  for (const folder of folders) if (fs.stat(folder)) await fs.syncDir(folder)
}

import type { Fs } from '../../storage/fs.ts'
import type { ProcessIdentity } from '../../storage/process-identity.ts'
import { identityName } from '../../storage/process-identity.ts'

/** The folder of journals in a store. */
export const JOURNAL_FOLDER = '.journal'

/**
 * Syncs the names of all journals of a store, and that of their folder: a process may have made both and died before it could. To be
 * called before anything is done that a journal of a dead process tells of, so that a power cut meanwhile leaves the journal to do the
 * rest.
 */
export async function syncJournalNames(fs: Fs, store: string): Promise<void> {
  await fs.syncDir(store)
  await fs.syncDir(`${store}/${JOURNAL_FOLDER}`)
}

/** The journals of a process, by name. */
export function journalsOf(fs: Fs, store: string, owner: ProcessIdentity): string[] {
  const names = fs.readDir(`${store}/${JOURNAL_FOLDER}`) ?? []
  return names.filter((name) => name.startsWith(`${identityName(owner)}.`))
}

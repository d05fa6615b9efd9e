import type { Fs } from './fs.ts'
import { decodeRecords } from './journal-record.ts'
import { syncTouched } from './sync-touched.ts'

/** Syncs everything that the journal at `path` tells of, as far as it is still there; see syncTouched. Throws if there is no journal. */
export async function settleJournal(fs: Fs, store: string, path: string): Promise<void> {
  const bytes = fs.readFile(path)
  if (!bytes) throw new Error(`the journal ${path} is gone`)
  const writes = decodeRecords(bytes).flatMap((record) => record.writes)
  await syncTouched(fs, store, writes)
}

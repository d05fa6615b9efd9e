import { syncMoves } from './finish-moves.ts'
import type { Fs } from './fs.ts'
import { decodeRecords } from './journal-record.ts'
import { syncTouched } from './sync-touched.ts'

/** Syncs everything that the bytes of a journal tell of, as far as it is still there; see syncTouched. */
export async function settleJournal(fs: Fs, store: string, bytes: Buffer): Promise<void> {
  const records = decodeRecords(bytes)
  await syncMoves(fs, store, records)
  const writes = records.flatMap((record) => record.writes)
  await syncTouched(fs, store, writes)
}

import type { DocumentTable } from '../storage/documents/document-table.ts'
import { compactPacks } from './compact-packs.ts'
import type { Database } from './database.ts'
import { JOURNAL_KEPT } from './kept.ts'

/** How often a server tidies up, in milliseconds. Several may do so at once. */
const EVERY = 60 * 60 * 1000

const TRIM = `
with gone as (
  delete from branchpoint.journal where at < now() - ${JOURNAL_KEPT} returning stream, n
), last as (
  select stream, max(n) as n from gone group by stream
)
update branchpoint.streams set trimmed = greatest(trimmed, last.n) from last where streams.id = last.stream`

const SWEEP = `delete from branchpoint.packs where repository is null and made < now() - ${JOURNAL_KEPT}`

/** Forgets what happened a day ago, which a folder that is further behind takes over as it is now, and packs that nothing ever named. */
export async function tidy(database: Database): Promise<void> {
  await database.query({ text: TRIM })
  await database.query({ text: SWEEP })
}

/** Does so now and then, and makes many packs one (see compactPacks). Answers how to stop it. */
export function keepTidy(database: Database, leases: DocumentTable): () => void {
  const timer = setInterval(() => {
    // The next one tries again.
    void tidy(database)
      .then(() => compactPacks(database, leases))
      .catch(() => undefined)
  }, EVERY).unref()
  return () => clearInterval(timer)
}

import type { DocumentTable } from '../documents/document-table.ts'
import type { Database } from './database.ts'
import { joinInMemory } from '../following/folder/index-bytes.ts'
import { stageInParts } from './large-packs.ts'
import { MAX_SMALL_PACK_BYTES } from './read-log.ts'

/** How long, in SQL, the journal is kept, a staged pack waits for a proposal, and packs that the journal may name are not joined. */
const JOURNAL_KEPT = "interval '24 hours'"

/** Several servers may tidy up at once. */
const MS_BETWEEN_RUNS = 60 * 60 * 1000

const TRIM = `
with gone as (
  delete from branchpoint.journal where at < now() - ${JOURNAL_KEPT} returning stream, n
), last as (
  select stream, max(n) as n from gone group by stream
)
update branchpoint.streams set trimmed = greatest(trimmed, last.n) from last where streams.id = last.stream`

const SWEEP = `delete from branchpoint.packs where repository is null and made < now() - ${JOURNAL_KEPT}`

/** Deletes journal entries older than a day, and packs that no proposal named. A folder that is further behind copies the current state. */
export async function tidy(database: Database): Promise<void> {
  await database.query({ text: TRIM })
  await database.query({ text: SWEEP })
}

/** Runs `tidy` and `compactPacks` regularly. Answers a function that stops this. */
export function keepTidy(database: Database, leases: DocumentTable): () => void {
  const timer = setInterval(() => {
    // After a failure the next run tries again.
    void tidy(database)
      .then(() => compactPacks(database, leases))
      .catch(() => undefined)
  }, MS_BETWEEN_RUNS).unref()
  return () => clearInterval(timer)
}

const MAX_SMALL_PACKS = 50

const MAX_JOINED_PACK_BYTES = 8 * 1024 * 1024

const BYTES_PER_PIECE = 1024 * 1024

/** The server with this lease compacts. It is renewed for each repository. */
const LEASE = 'compaction'
const LEASE_MS = 10 * 60 * 1000

/** Packs that may be removed: no journal entry names them any more, so no reader looks for them. */
const OLD = `size <= ${MAX_SMALL_PACK_BYTES} and made < now() - ${JOURNAL_KEPT}`

const CROWDED = `
select repository from branchpoint.packs where repository is not null and ${OLD}
group by repository having count(*) > ${MAX_SMALL_PACKS}`

const CHOSEN = `
select chosen.id, name, bytes
from (
  select id, name, sum(size) over (order by size, id) as upto from branchpoint.packs where repository = $1 and ${OLD}
) as chosen
join branchpoint.pack_parts on pack = chosen.id and part = 0
where upto <= ${MAX_JOINED_PACK_BYTES}
order by chosen.id`

/**
 * Joins many small packs of a repository into one; only one server does so at a time. All objects stay. A folder that has the packs keeps
 * them; a newly filled folder gets the joined pack. Answers how many packs were removed.
 */
export async function compactPacks(database: Database, leases: DocumentTable): Promise<number> {
  const token = await leases.takeLease(LEASE, LEASE_MS)
  if (token === undefined) return 0
  const lease = { name: LEASE, token }
  let gone = 0
  try {
    for (const { repository } of await database.query<{ repository: string }>({ text: CROWDED })) {
      if (!(await leases.renewLease(lease, LEASE_MS))) break
      gone += await compactRepository(database, repository)
    }
  } finally {
    await leases.dropLease(lease)
  }
  return gone
}

/** Answers how many packs were removed. */
async function compactRepository(database: Database, repository: string): Promise<number> {
  const packs = await database.query<SmallPack>({ text: CHOSEN, values: [repository] })
  const joined = await joinInMemory(packs)
  if (!joined) return 0
  const { name, bytes, held } = joined
  const old = packs.filter((pack) => held.has(pack.name)).map(({ id }) => id)
  const made = await stageInParts(database, name, piecesOf(bytes))
  try {
    await replacePacks(database, { repository, old, made })
    return old.length
  } catch (error) {
    await database.query({
      text: 'delete from branchpoint.packs where id = $1 and repository is null',
      values: [made],
    })
    if (error instanceof PacksGone) return 0
    throw error
  }
}

/** Replaces packs in one transaction. Throws PacksGone if some of the old ones no longer exist. */
function replacePacks(
  database: Database,
  { repository, old, made }: { readonly repository: string; readonly old: string[]; readonly made: string },
): Promise<void> {
  return database.transaction('begin isolation level read committed', async (ask) => {
    // Writers take this lock before the locks of packs too, so they wait.
    await ask('select from branchpoint.repositories where id = $1 for update', [repository])
    const gone = await ask(
      'delete from branchpoint.packs where id = any ($1) and repository = $2 returning id',
      [old, repository],
    )
    if (gone.length < old.length) throw new PacksGone('somebody else has replaced or purged them')
    await ask('update branchpoint.packs set repository = $1 where id = $2', [repository, made])
  })
}

class PacksGone extends Error {}

interface SmallPack {
  readonly id: string
  readonly name: string
  readonly bytes: Buffer
}

async function* piecesOf(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += BYTES_PER_PIECE) yield bytes.subarray(at, at + BYTES_PER_PIECE)
}

import type { DocumentTable } from '../storage/documents/document-table.ts'
import type { Database } from './database.ts'
import { joinInMemory } from '../git/following/folder/index-bytes.ts'
import { stageInParts } from './large-packs.ts'
import { SMALL } from './read-log.ts'

/**
 * How long, for SQL, the journal tells what happened, a pack waits for somebody to name it, and one that the journal may name is left as it is.
 */
const JOURNAL_KEPT = "interval '24 hours'"

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

/** A repository that has more small packs than this becomes one with one in their place. */
const MANY = 50

const MAX_JOINED_PACK_BYTES = 8 * 1024 * 1024

/** A large pack is written in pieces of so many bytes. */
const PIECE = 1024 * 1024

/** Whoever has it compacts, and has it for so long (milliseconds) from one repository to the next. */
const LEASE = 'compaction'
const LEASED = 10 * 60 * 1000

/** Packs that may go: the journal names none of them any more, so nobody who reads it looks for one. */
const OLD = `size <= ${SMALL} and made < now() - ${JOURNAL_KEPT}`

const CROWDED = `
select repository from branchpoint.packs where repository is not null and ${OLD}
group by repository having count(*) > ${MANY}`

const CHOSEN = `
select chosen.id, name, bytes
from (
  select id, name, sum(size) over (order by size, id) as upto from branchpoint.packs where repository = $1 and ${OLD}
) as chosen
join branchpoint.pack_parts on pack = chosen.id and part = 0
where upto <= ${MAX_JOINED_PACK_BYTES}
order by chosen.id`

/**
 * Makes one pack of the many small ones that repositories have in the database, while no other server does: every object stays. A
 * folder that has the packs keeps them; one that is filled gets the new one. Answers how many packs have gone.
 */
export async function compactPacks(database: Database, leases: DocumentTable): Promise<number> {
  const token = await leases.takeLease(LEASE, LEASED)
  if (token === undefined) return 0
  const lease = { name: LEASE, token }
  let gone = 0
  try {
    for (const { repository } of await database.query<{ repository: string }>({ text: CROWDED })) {
      if (!(await leases.renewLease(lease, LEASED))) break
      gone += await compactRepository(database, repository)
    }
  } finally {
    await leases.dropLease(lease)
  }
  return gone
}

/** Answers how many packs have gone. */
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

/** In one transaction. Throws PacksGone where not all of the old ones are there any more. */
function replacePacks(
  database: Database,
  { repository, old, made }: { readonly repository: string; readonly old: string[]; readonly made: string },
): Promise<void> {
  return database.transaction('begin isolation level read committed', async (ask) => {
    // Whoever writes to the repository waits: it takes this lock before those of packs, too.
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
  for (let at = 0; at < bytes.length; at += PIECE) yield bytes.subarray(at, at + PIECE)
}

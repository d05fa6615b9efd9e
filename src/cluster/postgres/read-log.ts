import { NotInLog } from '../following/shared-log.ts'
import type {
  LogEntry,
  LoggedPack,
  LoggedWrite,
  Positions,
  RepositoryState,
} from '../following/shared-log.ts'
import type { Ask, Database } from './database.ts'

/** A pack up to this many bytes is stored in one part and comes with its journal entry. */
export const MAX_SMALL_PACK_BYTES = 1024 * 1024

/** The time limit (milliseconds) of each query about repositories. A folder is not updated while it waits for one. */
const MAX_STATES_MS = 10_000

/** Reads the entries between two looks in one query. Throws NotInLog if some of them are no longer there. */
export async function readEntries(
  database: Database,
  from: Positions,
  to: Positions,
): Promise<readonly LogEntry[]> {
  const behind = [...to].filter(([stream, { n }]) => n > (from.get(stream)?.n ?? 0))
  const wanted = behind.map(([id, { n }]) => ({ id, behind: from.get(id)?.n ?? 0, upto: n }))
  const rows = await database.query<StreamRow | JournalRow>({
    name: 'journal',
    text: JOURNAL,
    values: [JSON.stringify(wanted)],
  })
  const lost = rows.find(({ stream, trimmed }) => Number(trimmed) > (from.get(stream)?.n ?? 0))
  if (lost) throw new NotInLog(`batches of stream ${lost.stream}`)
  return entriesIn(rows.filter((row) => row.n !== null))
}

/**
 * A row for each stream, each entry and each of its small packs. Rows are found by their keys (`offset 0`, `limit 1`) with one plan for all
 * values; the streams come as JSON, from which the planner makes no estimates. The conditions that packs are an array with names that begin
 * with `pack-` are always true: the planner takes an equality for rare, and so estimates one pack per entry instead of ten thousand.
 */
const JOURNAL = `
select streams.id as stream, trimmed, entry.n, item, what, small.repository, small.name, small.bytes
from jsonb_to_recordset($1) as wanted (id bigint, behind bigint, upto bigint)
join branchpoint.streams on streams.id = wanted.id
left join lateral (
  select n, item, what from branchpoint.journal where stream = wanted.id and n > behind and n <= upto order by n, item offset 0
) as entry on true
left join lateral (
  select writes.repository, listed.name, part.bytes
  from jsonb_to_recordset(what -> 'writes') as writes (repository text, packs jsonb), jsonb_array_elements_text(writes.packs) as listed (name),
    lateral (
      select bytes from branchpoint.repositories
      join branchpoint.packs on packs.repository = repositories.id
      join branchpoint.pack_parts on pack = packs.id and part = 0
      where path = writes.repository and packs.name = listed.name and size <= ${MAX_SMALL_PACK_BYTES}
      limit 1
    ) as part
  where jsonb_typeof(writes.packs) = 'array' and left(listed.name, 5) = 'pack-'
) as small on true
order by streams.id, entry.n, item`

interface StreamRow {
  readonly stream: string
  readonly trimmed: string
  readonly n: null
}

interface JournalRow extends Omit<StreamRow, 'n'> {
  readonly n: string
  readonly item: number
  readonly what: Pick<LogEntry, 'moved' | 'purged'> & {
    readonly writes: readonly (Omit<LoggedWrite, 'packs'> & { readonly packs: readonly string[] })[]
  }
  /** A small pack; null if the entry has none. */
  readonly repository: string | null
  readonly name: string | null
  readonly bytes: Buffer | null
}

function entriesIn(rows: readonly JournalRow[]): LogEntry[] {
  const packs = new Map(
    rows.map(({ repository, name, bytes }) => [`${repository} ${name}`, bytes ?? undefined]),
  )
  const isFirst = (row: JournalRow, at: number): boolean => {
    const before = rows[at - 1]
    return row.stream !== before?.stream || row.n !== before.n || row.item !== before.item
  }
  return rows.filter(isFirst).map(({ stream, n, item, what }) => ({
    stream,
    n: Number(n),
    item,
    writes: what.writes.map((write) => ({
      ...write,
      packs: write.packs.map((name): LoggedPack => ({
        name,
        bytes: packs.get(`${write.repository} ${name}`),
      })),
    })),
    moved: what.moved,
    purged: what.purged,
  }))
}

/** The bytes of the small ones among these packs. */
export async function readSmallPacks(
  database: Database,
  repository: string,
  names: readonly string[],
): Promise<ReadonlyMap<string, Buffer>> {
  const found = await database.query<{ name: string; bytes: Buffer }>({
    name: 'small-packs',
    text: `select packs.name, bytes from branchpoint.repositories
      join branchpoint.packs on packs.repository = repositories.id and packs.name = any ($2) and size <= ${MAX_SMALL_PACK_BYTES}
      join branchpoint.pack_parts on pack = packs.id and part = 0
      where path = $1`,
    values: [repository, names],
  })
  return new Map(found.map(({ name, bytes }) => [name, bytes]))
}

/** The states of these repositories, all at one moment. */
export function readStates(
  database: Database,
  repositories: readonly string[],
): Promise<ReadonlyMap<string, RepositoryState>> {
  return statesOf(database, 'path = any ($1)', [repositories])
}

/** The states of the next repositories after one, all at one moment, in the order of their paths. */
export function readStatesBehind(
  database: Database,
  repository: string,
  most: number,
): Promise<ReadonlyMap<string, RepositoryState>> {
  return statesOf(database, 'path > $1 order by path limit $2', [repository, most])
}

function statesOf(
  database: Database,
  chosen: string,
  values: readonly unknown[],
): Promise<ReadonlyMap<string, RepositoryState>> {
  const read = async (ask: Ask): Promise<ReadonlyMap<string, RepositoryState>> => {
    const rows = await ask<RepositoryRow>(
      `select id, path, version, stamp, head from branchpoint.repositories where state <> 'purged' and ${chosen}`,
      values,
    )
    const states = new Map(
      rows.map(({ id, path, version, stamp, head }) => {
        const state = { version: Number(version), trashed: stamp ?? undefined, head }
        return [id, { path, ...state, refs: new Map<string, string>(), packs: [] as string[] }]
      }),
    )
    const ids = [[...states.keys()]]
    const refs = await ask<{ repository: string; name: string; oid: string }>(
      'select repository, name, oid from branchpoint.refs where repository = any ($1)',
      ids,
    )
    const packs = await ask<{ repository: string; name: string }>(
      'select repository, name from branchpoint.packs where repository = any ($1) order by id',
      ids,
    )
    for (const { repository, name, oid } of refs) states.get(repository)?.refs.set(name, oid)
    for (const { repository, name } of packs) states.get(repository)?.packs.push(name)
    return new Map([...states.values()].map(({ path, ...state }) => [path, state]))
  }
  return database.transaction('begin isolation level repeatable read read only', read, MAX_STATES_MS)
}

interface RepositoryRow {
  readonly id: string
  readonly path: string
  readonly version: string
  readonly stamp: string | null
  readonly head: string
}

export async function readVersions(
  database: Database,
  repositories: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await database.query<{ path: string; version: string }>({
    text: `select path, version from branchpoint.repositories where path = any ($1) and state <> 'purged'`,
    values: [repositories],
  })
  return new Map(rows.map(({ path, version }) => [path, Number(version)]))
}

/** The number of repositories whose paths start with the prefix. */
export async function countRepositories(database: Database, prefix = ''): Promise<number> {
  const [row] = await database.query<{ count: string }>({
    text: `select count(*) from branchpoint.repositories where state <> 'purged' and starts_with(path, $1)`,
    values: [prefix],
  })
  return Number(row?.count)
}

/** The paths of a project's repositories that claim a name. */
export async function readNamed(
  database: Database,
  project: string,
  name: string,
): Promise<readonly string[]> {
  const rows = await database.query<{ path: string }>({
    name: 'named',
    text: `select path from branchpoint.names join branchpoint.repositories on id = repository
      where project = $1 and names.name = $2 and state <> 'purged'`,
    values: [project, name],
  })
  return rows.map(({ path }) => path)
}

/** Whether a repository was purged. */
export async function readPurged(database: Database, repository: string): Promise<boolean> {
  const rows = await database.query({
    text: `select from branchpoint.repositories where path = $1 and state = 'purged'`,
    values: [repository],
  })
  return rows.length > 0
}

import { NotInLog } from '../git/following/shared-log.ts'
import type {
  LogEntry,
  LoggedPack,
  LoggedWrite,
  Positions,
  RepositoryState,
  StreamPosition,
} from '../git/following/shared-log.ts'
import type { Database } from './database.ts'

/** A pack of no more bytes lies in one part, and comes with the entry that names it. */
export const SMALL = 1024 * 1024

/** What lies between two looks at the journal. */
export async function readEntries(
  database: Database,
  from: Positions,
  to: Positions,
): Promise<readonly LogEntry[]> {
  const behind = [...to].filter(([stream, { n }]) => n > (from.get(stream)?.n ?? 0))
  const rows = await database.query<JournalRow>({
    name: 'journal',
    text: `select stream, n, item, what from branchpoint.journal
      join unnest($1::bigint[], $2::bigint[], $3::bigint[]) as wanted (id, behind, upto)
        on stream = id and n > behind and n <= upto
      order by stream, n, item`,
    values: [
      behind.map(([stream]) => stream),
      behind.map(([stream]) => from.get(stream)?.n ?? 0),
      behind.map(([, { n }]) => n),
    ],
  })
  await assertWhole(database, behind, from)
  const packs = await packsOf(database, rows)
  return rows.map(({ stream, n, item, what }) => ({
    stream,
    n: Number(n),
    item,
    writes: what.writes.map((write) => ({
      ...write,
      packs: write.packs.map((name): LoggedPack => ({
        name,
        bytes: packs.get(write.repository)?.get(name),
      })),
    })),
    moved: what.moved,
    purged: what.purged,
  }))
}

/** Throws NotInLog where what is wanted was forgotten before it was read. */
async function assertWhole(
  database: Database,
  behind: readonly (readonly [string, StreamPosition])[],
  from: Positions,
): Promise<void> {
  const rows = await database.query<{ id: string; trimmed: string }>({
    name: 'trimmed',
    text: 'select id, trimmed from branchpoint.streams where id = any ($1) and trimmed > 0',
    values: [behind.map(([stream]) => stream)],
  })
  const lost = rows.find(({ id, trimmed }) => Number(trimmed) > (from.get(id)?.n ?? 0))
  if (lost) throw new NotInLog(`batches of stream ${lost.id}`)
}

interface JournalRow {
  readonly stream: string
  readonly n: string
  readonly item: number
  readonly what: Pick<LogEntry, 'moved' | 'purged'> & {
    readonly writes: readonly (Omit<LoggedWrite, 'packs'> & { readonly packs: readonly string[] })[]
  }
}

/** The bytes of the small packs that entries name, by repository and name. */
async function packsOf(
  database: Database,
  rows: readonly JournalRow[],
): Promise<ReadonlyMap<string, ReadonlyMap<string, Buffer>>> {
  const wanted = rows.flatMap(({ what }) =>
    what.writes.flatMap(({ repository, packs }) => packs.map((name) => ({ repository, name }))),
  )
  const bytes = new Map<string, Map<string, Buffer>>()
  for (const found of await readSmallPacks(database, wanted)) {
    const ofRepository = bytes.get(found.path) ?? new Map<string, Buffer>()
    bytes.set(found.path, ofRepository.set(found.name, found.bytes))
  }
  return bytes
}

/** Those of these packs that are small. */
export async function readSmallPacks(
  database: Database,
  wanted: readonly { readonly repository: string; readonly name: string }[],
): Promise<readonly { readonly path: string; readonly name: string; readonly bytes: Buffer }[]> {
  if (wanted.length === 0) return []
  return database.query({
    name: 'packs',
    text: `select path, packs.name, bytes
      from unnest($1::text[], $2::text[]) as wanted (repository, name)
      join branchpoint.repositories on path = wanted.repository
      join branchpoint.packs on packs.repository = repositories.id and packs.name = wanted.name and size <= ${SMALL}
      join branchpoint.pack_parts on pack = packs.id and part = 0`,
    values: [wanted.map(({ repository }) => repository), wanted.map(({ name }) => name)],
  })
}

/** What these repositories are at one moment. */
export function readStates(
  database: Database,
  repositories: readonly string[],
): Promise<ReadonlyMap<string, RepositoryState>> {
  return statesOf(database, 'path = any ($1)', [repositories])
}

/** What the next repositories behind one are at one moment, in the order of their paths. */
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
  return database.transaction('begin isolation level repeatable read read only', async (ask) => {
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
  })
}

interface RepositoryRow {
  readonly id: string
  readonly path: string
  readonly version: string
  readonly stamp: string | null
  readonly head: string
}

/** The versions of these repositories now. */
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

/** How many repositories there are, of those whose paths begin so. */
export async function countRepositories(database: Database, prefix = ''): Promise<number> {
  const [row] = await database.query<{ count: string }>({
    text: `select count(*) from branchpoint.repositories where state <> 'purged' and starts_with(path, $1)`,
    values: [prefix],
  })
  return Number(row?.count)
}

/** The paths of the repositories of a project that have a name. */
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

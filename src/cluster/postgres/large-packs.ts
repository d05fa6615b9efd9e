import { NotInLog } from '../following/shared-log.ts'
import type { Database } from './database.ts'

/** Stores a pack in parts, before a proposal names it; answers its id. */
export async function stageInParts(
  database: Database,
  name: string,
  pieces: AsyncIterable<Buffer>,
): Promise<string> {
  const [made] = await database.query<{ id: string }>({
    text: 'insert into branchpoint.packs (name, size) values ($1, 0) returning id',
    values: [name],
  })
  if (!made) throw new Error('the database made no row')
  let size = 0
  let part = 0
  for await (const bytes of pieces) {
    await database.query({
      name: 'part',
      text: 'insert into branchpoint.pack_parts (pack, part, bytes) values ($1, $2, $3) on conflict do nothing',
      values: [made.id, part++, bytes],
    })
    size += bytes.length
  }
  await database.query({
    text: 'update branchpoint.packs set size = $2 where id = $1',
    values: [made.id, size],
  })
  return made.id
}

/**
 * The bytes of a repository's pack, part by part; undefined if there is no such pack. Iteration throws NotInLog if the pack is removed
 * meanwhile.
 */
export async function readPack(
  database: Database,
  repository: string,
  name: string,
): Promise<AsyncIterable<Buffer> | undefined> {
  const [found] = await database.query<{ id: string; parts: string }>({
    text: `select packs.id, (select count(*) from branchpoint.pack_parts where pack = packs.id) as parts
      from branchpoint.packs join branchpoint.repositories on repositories.id = repository
      where path = $1 and packs.name = $2`,
    values: [repository, name],
  })
  return found && partsOf(database, found.id, Number(found.parts))
}

/** The parts of a pack, in order. Throws NotInLog if one is gone. */
export async function* partsOf(database: Database, pack: string, parts: number): AsyncGenerator<Buffer> {
  for (let part = 0; part < parts; part++) {
    const [row] = await database.query<{ bytes: Buffer }>({
      name: 'read-part',
      text: 'select bytes from branchpoint.pack_parts where pack = $1 and part = $2',
      values: [pack, part],
    })
    if (!row) throw new NotInLog(`part ${part} of a pack`)
    yield row.bytes
  }
}

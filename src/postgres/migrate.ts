import { CannotStart } from '../errors.ts'
import type { Database } from './database.ts'
import { FIRST_MIGRATION } from './migrations/0001-log.ts'
import { SECOND_MIGRATION } from './migrations/0002-documents.ts'
import { THIRD_MIGRATION } from './migrations/0003-spans.ts'
import { FOURTH_MIGRATION } from './migrations/0004-decided.ts'
import { FIFTH_MIGRATION } from './migrations/0005-sets.ts'
import { SIXTH_MIGRATION } from './migrations/0006-flat.ts'

/** In the order of their numbers, from 1. A database that has some gets the others; none is ever changed. */
const MIGRATIONS: readonly string[] = [
  FIRST_MIGRATION,
  SECOND_MIGRATION,
  THIRD_MIGRATION,
  FOURTH_MIGRATION,
  FIFTH_MIGRATION,
  SIXTH_MIGRATION,
]

/** Any number that no other program has a lock of. */
const LOCK = 7_203_486_551

/**
 * Brings the schema of a database up to what this code knows, in one transaction, while no other server does; answers the database's own
 * id. Throws a CannotStart for a schema of a later version.
 */
export async function migrate(database: Database): Promise<string> {
  return database.transaction('begin', async (ask) => {
    await ask('select pg_advisory_xact_lock($1)', [LOCK])
    const [schema] = await ask<{ there: boolean }>(
      `select to_regclass('branchpoint.database') is not null as there`,
    )
    if (!schema?.there) {
      await ask('create schema if not exists branchpoint')
      await ask('create table branchpoint.database (id uuid not null, version int not null)')
      await ask('insert into branchpoint.database values (gen_random_uuid(), 0)')
    }
    const [found] = await ask<{ id: string; version: number }>('select id, version from branchpoint.database')
    if (!found)
      throw new CannotStart('The table branchpoint.database is empty. Restore the database from a backup.')
    if (found.version > MIGRATIONS.length) {
      throw new CannotStart(
        `The database has the schema of version ${found.version}, and this version of the server knows versions up to ${MIGRATIONS.length}. ` +
          'Start the version that made it that.',
      )
    }
    for (const migration of MIGRATIONS.slice(found.version)) await ask(migration)
    if (found.version < MIGRATIONS.length)
      await ask('update branchpoint.database set version = $1', [MIGRATIONS.length])
    return found.id
  })
}

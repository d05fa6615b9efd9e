import { MemoryDatabase } from '../../support/postgres/memory-log.ts'
import { type PostgresServer, startPostgres } from '../../support/postgres/postgres.ts'
import { needsPostgres } from '../../support/postgres/needs-postgres.ts'
import type { OpenLog } from '../../../src/cluster/following/shared-log.ts'
import { openPostgres } from '../../../src/cluster/postgres/open-postgres.ts'

/** What several servers can share: begun once for a file of tests, and a new database for each of them. */
export interface SharedEngine {
  readonly name: string
  /** Skips the tests of a hook where the engine is not here. */
  need(hook: Mocha.Context): void
  begin(): Promise<void>
  newDatabase(): Promise<OpenLog>
  end(): Promise<void>
}

/** The plain model in memory, and a real PostgreSQL: what holds for one holds for the other. */
export function sharedEngines(): readonly SharedEngine[] {
  let server: PostgresServer | undefined
  return [
    {
      name: 'a database in memory',
      need: () => undefined,
      begin: async () => undefined,
      newDatabase: async () => new MemoryDatabase().open,
      end: async () => undefined,
    },
    {
      name: 'PostgreSQL',
      need: needsPostgres,
      begin: async () => {
        server = await startPostgres()
      },
      newDatabase: async () => {
        const url = await server?.database()
        return openPostgres({ url: url ?? '', reads: undefined, warn: () => undefined })
      },
      end: async () => server?.stop(),
    },
  ]
}

import { type PostgresServer, startPostgres } from '../../../support/postgres/postgres.ts'
import { memoryFs } from '../../../../src/storage/memory-fs.ts'
import { openPostgres, openSpanTable } from '../../../../src/cluster/postgres/open-postgres.ts'
import type { TraceSettings } from '../../../../src/feeds/traces/project-traces.ts'
import { needsPostgres } from '../../../support/postgres/needs-postgres.ts'
import { type TraceProject, traceProject } from '../trace-project.ts'

type MakeProject = (settings?: Partial<TraceSettings>) => TraceProject

/** The same cases over each place where traces may lie: what holds for one holds for the other. */
export function overEachEngine(title: string, cases: (makeProject: MakeProject) => void): void {
  describe(title, () => cases(traceProject))
  describe(`${title}, in memory`, () =>
    cases((settings = {}) => traceProject(settings, undefined, memoryFs())))
  describe(`${title}, in PostgreSQL`, () => {
    let postgres: PostgresServer | undefined
    let url = ''
    before(async function () {
      needsPostgres(this)
      postgres = await startPostgres()
      url = await traceDatabase(postgres)
    })
    cases((settings = {}) => traceProject(settings, () => openSpanTable(url)))
    after(() => postgres?.stop())
  })
}

/** The URL of a new database with the tables of traces. */
export async function traceDatabase(postgres: PostgresServer): Promise<string> {
  const url = await postgres.database()
  const log = await openPostgres({ url, reads: undefined, warn: () => undefined })(undefined)
  await log.close()
  return url
}

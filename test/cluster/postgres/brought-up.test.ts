import { expect } from 'chai'
import { ask, type PostgresServer, startPostgres } from '../../support/postgres/postgres.ts'
import { openPostgres } from '../../../src/cluster/postgres/open-postgres.ts'
import { needsPostgres } from '../../support/postgres/needs-postgres.ts'
import { makeVersion2 } from './earlier-database.ts'

describe('postgres: a database of before is brought up', function () {
  let postgres: PostgresServer
  before(async function () {
    needsPostgres(this)
    postgres = await startPostgres()
  })
  after(() => postgres?.stop())

  it('from version 2, and what its journal says of keyed writes becomes documents', async () => {
    const url = await postgres.database()
    await makeVersion2(url)
    await ask(
      url,
      `insert into branchpoint.journal (stream, n, item, what) values
        (99, 1, 0, '{"writes": [], "notes": ["default/idempotency/a.decided"]}'),
        (99, 2, 0, '{"writes": [], "notes": []}'),
        (99, 3, 0, '{"writes": [], "notes": ["default/idempotency/a.decided", "default/idempotency/b.decided"]}')`,
    )
    const log = await openPostgres({ url, reads: undefined, warn: () => undefined })(undefined)
    try {
      const paths = (await log.documents.table.summaries()).map(({ path }) => path)
      expect(paths.sort()).to.deep.equal(['default/idempotency/a.decided', 'default/idempotency/b.decided'])
      await log.append([
        { writes: [], needs: [], seen: new Map(), notes: ['default/idempotency/c.decided'] },
        {
          writes: [],
          needs: ['default/workflows/none.git'],
          seen: new Map(),
          notes: ['default/idempotency/d.decided'],
        },
      ])
      const told = (await log.documents.entries())?.map(({ path }) => path)
      expect(told).to.deep.equal(['default/idempotency/c.decided'])
    } finally {
      await log.close()
    }
  })
})

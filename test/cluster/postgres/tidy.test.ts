import { followStore } from '../../../src/cluster/following/open-following.ts'
import { expect } from 'chai'
import { needsPostgres } from '../../support/postgres/needs-postgres.ts'
import { ask, type PostgresServer, startPostgres } from '../../support/postgres/postgres.ts'
import { Database } from '../../../src/cluster/postgres/database.ts'
import { tidy } from '../../../src/cluster/postgres/tidy.ts'
import { openPostgres } from '../../../src/cluster/postgres/open-postgres.ts'
import { memoryFs } from '../../../src/storage/memory-fs.ts'
import { commitOnMain, newRepository, tipOf } from '../../git/following/repositories.ts'

describe('postgres: what is forgotten', function () {
  let postgres: PostgresServer
  before(async function () {
    needsPostgres(this)
    postgres = await startPostgres()
  })
  after(() => postgres?.stop())

  it('is a journal of a day ago, which a folder that is further behind does not need, and packs that nothing named', async () => {
    const url = await postgres.database()
    const open = openPostgres({ url, reads: undefined, warn: () => undefined })
    const fs = memoryFs()
    await (await followStore(fs, '/store', open)).close()
    const here = await followStore(memoryFs(), '/store', open)
    await newRepository(here, 'bot')
    const bot = (await here.project('default')).repository('workflows', 'bot')
    await commitOnMain(bot, 'long ago')
    const second = await followStore(fs, '/store', open)
    await second.close()
    await commitOnMain(bot, 'long ago, too')
    const forgotten = tipOf(bot) ?? ''
    await ask(url, "insert into branchpoint.packs (name, size) values ('pack-unnamed', 0)")
    await ask(url, "update branchpoint.journal set at = at - interval '2 days'")
    await ask(url, "update branchpoint.packs set made = made - interval '2 days'")
    await commitOnMain(bot, 'now')
    const database = new Database([url])
    await tidy(database)
    await database.close()
    const [left] = await ask<{ entries: string; unnamed: string }>(
      url,
      `select (select count(*) from branchpoint.journal) as entries,
        (select count(*) from branchpoint.packs where repository is null) as unnamed`,
    )
    expect(left).to.deep.equal({ entries: '1', unnamed: '0' })
    const again = await followStore(fs, '/store', open)
    const copy = (await again.project('default')).repository('workflows', 'bot')
    expect(tipOf(copy)).to.equal(tipOf(bot))
    expect(await copy.objects.read(forgotten)).not.to.equal(undefined)
    await again.close()
    await here.close()
  })
})

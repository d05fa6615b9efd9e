import { followStore } from '../../../src/cluster/following/open-following.ts'
import { expect } from 'chai'
import { ask, type PostgresServer, startPostgres } from '../../support/postgres/postgres.ts'
import { Store } from '../../../src/git/store/store.ts'
import { openPostgres } from '../../../src/cluster/postgres/open-postgres.ts'
import { memoryFs } from '../../../src/storage/memory-fs.ts'
import { commitOnMain, newRepository, tipOf } from '../../git/following/repositories.ts'
import { needsPostgres } from '../../support/postgres/needs-postgres.ts'

describe('postgres: the streams of folders', function () {
  let postgres: PostgresServer
  let url: string
  before(async function () {
    needsPostgres(this)
    postgres = await startPostgres()
  })
  beforeEach(async () => (url = await postgres.database()))
  after(() => postgres?.stop())

  const open = (isPassing: boolean, fs = memoryFs()): Promise<Store> =>
    followStore(fs, '/store', openPostgres({ url, reads: undefined, isPassing, warn: () => undefined }))
  const streams = (): Promise<{ id: string; n: string; holder: string }[]> =>
    ask(url, 'select id, n, holder from branchpoint.streams order by id')
  const commitIn = async (store: Store, message: string): Promise<string | undefined> => {
    const bot = (await store.project('default')).repository('workflows', 'bot')
    await commitOnMain(bot, message)
    return tipOf(bot)
  }
  const tipIn = async (store: Store): Promise<string | undefined> => {
    await store.fresh()
    return tipOf((await store.project('default')).repository('workflows', 'bot'))
  }

  it('that go are used again, and every folder that follows has what was written through them', async () => {
    const server = await open(false)
    await newRepository(server, 'bot')
    for (const message of ['one', 'two', 'three']) {
      const passing = await open(true)
      const tip = await commitIn(passing, message)
      await passing.close()
      expect(await tipIn(server)).to.equal(tip)
    }
    expect((await streams()).map(({ n }) => n)).to.deep.equal(['1', '3'])
    // Also one that was away for all of it, and one that is new.
    const other = await open(false)
    expect(await tipIn(other)).to.equal(await tipIn(server))
    await other.close()
    await server.close()
  })

  it('take nothing more from who has handed one back', async () => {
    const passing = await open(true)
    await newRepository(passing, 'bot')
    const [held] = await streams()
    await passing.close()
    const late = `select branchpoint.append(${held?.id}, '${held?.holder}', 2, 'late', '{}', '{}', '[]', '')`
    const refusal = await ask(url, late).catch((error: unknown) => (error as { code: string }).code)
    expect(refusal).to.equal('BP001')
  })

  it('are nobody else’s while their folder is there, in use or not', async () => {
    const [fs, server] = [memoryFs(), await open(false)]
    await newRepository(server, 'bot')
    const stopped = await open(false, fs)
    await commitIn(stopped, 'before the stop')
    await stopped.close()
    const passing = await open(true)
    await commitIn(passing, 'meanwhile')
    const again = await open(false, fs)
    const tip = await commitIn(again, 'after it')
    expect(await tipIn(server)).to.equal(tip)
    expect(await tipIn(passing)).to.equal(tip)
    for (const store of [passing, again, server]) await store.close()
    expect((await streams()).map(({ n }) => n)).to.deep.equal(['1', '2', '1'])
  })

  it('of two folders that are opened at once are two', async () => {
    const first = await open(true)
    await newRepository(first, 'bot')
    await first.close()
    const both = await Promise.all([open(true), open(true)])
    for (const store of both) await commitIn(store, 'at once')
    for (const store of both) await store.close()
    expect(await streams()).to.have.length(2)
  })
})

import { followStore } from '../../../src/cluster/following/open-following.ts'
import { expect } from 'chai'
import { MemoryDatabase } from '../../support/postgres/memory-log.ts'
import { Refusal } from '../../../src/errors.ts'
import type { Repository } from '../../../src/git/store/repository.ts'
import { Store } from '../../../src/git/store/store.ts'
import { memoryFs } from '../../../src/storage/memory-fs.ts'
import { failingFs } from '../../support/disk/failing-fs.ts'
import { commitOnMain, newRepository, tipOf } from './repositories.ts'

describe('git: looks at a log', () => {
  let database: MemoryDatabase
  let here: Store
  let there: Store
  beforeEach(async () => {
    database = new MemoryDatabase()
    here = await followStore(memoryFs(), '/store', database.open)
    there = await followStore(memoryFs(), '/store', database.open)
    await newRepository(here, 'bot')
    await there.fresh()
  })
  afterEach(async () => {
    database.delay = async () => undefined
    await here.close()
    await there.close()
  })

  it('are shared: one is under way, and all who come meanwhile wait for the next', async () => {
    let looks = 0
    database.delay = async (what) => void (what === 'look' && looks++)
    await Promise.all(Array.from({ length: 50 }, () => there.fresh()))
    expect(looks).to.equal(2)
  })

  it('are spared to reads with READS=local, and never to who decides something, or holds a lease', async () => {
    for (const store of [here, there]) await store.close()
    database.reads = 'local'
    database.hints = false
    here = await followStore(memoryFs(), '/store', database.open)
    there = await followStore(memoryFs(), '/store', database.open)
    const [one, other] = [await repositoryOf(here, 'bot'), await repositoryOf(there, 'bot')]
    let looks = 0
    database.delay = async (what) => void (what === 'look' && looks++)
    for (let read = 1; read <= 50; read++) expect((await there.fresh())?.by).to.equal('local')
    expect(looks).to.be.lessThan(50)
    await commitOnMain(one, 'at one')
    const path = '/store/default/idempotency/once.json'
    await here.fs.documents?.lease(path, (lease) => lease.put(path, Buffer.from('done')))
    await there.fs.documents?.lease(path, async () =>
      expect(there.fs.readFile(path)?.toString()).to.equal('done'),
    )
    await commitOnMain(one, 'at one')
    await commitOnMain(other, 'at the other')
    await here.close()
    here = await followStore(memoryFs(), '/store', database.open)
    expect(tipOf(await repositoryOf(here, 'bot'))).to.equal(tipOf(other))
    expect((await other.history.node(tipOf(other) ?? '')).depth).to.equal(4)
  })

  it('say since when what is read is fresh', async () => {
    const before = performance.now()
    const freshness = await there.fresh()
    expect(freshness?.by).to.equal('primary')
    expect(freshness?.since).to.be.within(before, performance.now())
  })

  it('that were answered before a decision of this server do not take the folder for one that is ahead', async () => {
    const bot = await repositoryOf(here, 'bot')
    let letGo = (): void => undefined
    const held = new Promise<void>((resolve) => (letGo = resolve))
    database.delay = async (what) => (what === 'looked' ? held : undefined)
    const before = database.takenOver
    const looking = here.fresh()
    await commitOnMain(bot, 'while it is asked')
    letGo()
    await looking
    await here.fresh()
    expect(database.takenOver).to.equal(before)
  })

  it('after a failover that lost a commit which was seen have every folder forget it', async () => {
    const forget = database.remember()
    const [one, other] = [await repositoryOf(here, 'bot'), await repositoryOf(there, 'bot')]
    const kept = tipOf(one)
    await commitOnMain(one, 'lost')
    await newRepository(here, 'lost')
    await there.fresh()
    expect(tipOf(other)).not.to.equal(kept)
    forget()
    await there.fresh()
    await here.fresh()
    for (const store of [here, there]) {
      expect(tipOf(await repositoryOf(store, 'bot'))).to.equal(kept)
      expect((await store.project('default')).slugs('workflows')).to.deep.equal(['bot'])
    }
    await commitOnMain(other, 'after')
    await here.fresh()
    expect(tipOf(one)).to.equal(tipOf(other))
    await newRepository(there, 'lost')
  })

  it('do not set back a ref that this server moved on what it had, when others had moved it there and back', async () => {
    const [one, other] = [await repositoryOf(here, 'bot'), await repositoryOf(there, 'bot')]
    const first = tipOf(one) ?? ''
    await commitOnMain(one, 'second')
    await there.fresh()
    const second = tipOf(one) ?? ''
    const mirror = 'refs/environments/live'
    const move = (repository: Repository, target: string): Promise<void> =>
      repository.transact(async (transaction) => transaction.setDerivedRef(mirror, target))
    await move(one, first)
    await there.fresh()
    let letGo = (): void => undefined
    const held = new Promise<void>((resolve) => (letGo = resolve))
    database.delay = async (what) => (what === 'look' ? held : undefined)
    await move(one, second)
    await move(one, first)
    await move(other, second)
    letGo()
    await there.fresh()
    await here.fresh()
    for (const repository of [one, other])
      expect(repository.refs.snapshot().refs.get(mirror)).to.equal(second)
  })

  it('bring what this server decided and its disk refused to show', async () => {
    await here.close()
    const disk = failingFs(memoryFs())
    here = await followStore(disk.fs, '/store', database.open)
    const [one, other] = [await repositoryOf(here, 'bot'), await repositoryOf(there, 'bot')]
    disk.failIf((call, path) => call === 'rename' && path.includes('refs/heads/main'))
    const failed = await commitOnMain(one, 'decided').then(
      () => undefined,
      (error: unknown) => error,
    )
    expect(failed).to.be.instanceOf(Error)
    disk.failIf(() => false)
    await here.fresh()
    await there.fresh()
    expect(tipOf(one)).to.equal(tipOf(other))
    await commitOnMain(one, 'next')
    await there.fresh()
    expect(tipOf(one)).to.equal(tipOf(other))
  })

  it('bring what was decided though its answer was lost, once', async () => {
    const [one, other] = [await repositoryOf(here, 'bot'), await repositoryOf(there, 'bot')]
    const before = tipOf(one)
    let isLost = true
    database.delay = async (what) => {
      if (what !== 'answer' || !isLost) return
      isLost = false
      throw new Refusal('storage_unavailable', 'the connection broke')
    }
    const failed = await commitOnMain(one, 'decided').then(
      () => undefined,
      (error: unknown) => error,
    )
    expect(failed).to.be.instanceOf(Refusal)
    // More is decided before anybody looks.
    await newRepository(here, 'next')
    await here.fresh()
    await there.fresh()
    expect(tipOf(one)).not.to.equal(before)
    expect(tipOf(one)).to.equal(tipOf(other))
    await commitOnMain(one, 'on top')
    await there.fresh()
    expect(tipOf(one)).to.equal(tipOf(other))
  })
})

async function repositoryOf(store: Store, slug: string): Promise<Repository> {
  return (await store.project('default')).repository('workflows', slug)
}

import { followStore } from '../../../src/cluster/following/open-following.ts'
import { expect } from 'chai'
import { MemoryDatabase } from '../../support/postgres/memory-log.ts'
import { DatabaseAway } from '../../../src/errors.ts'
import type { Repository } from '../../../src/git/store/repository.ts'
import { Store } from '../../../src/git/store/store.ts'
import { transactAcross } from '../../../src/git/store/repository.ts'
import { memoryFs } from '../../../src/storage/memory-fs.ts'
import { commitOnMain, commitOnto, newRepository, tipOf } from './repositories.ts'

describe('git: a decision that finds the database away', () => {
  let database: MemoryDatabase
  let store: Store
  let bot: Repository
  let other: Repository
  /** How often the database was asked to decide something, and has the first one fail. */
  let asked: number
  let fail: () => void

  beforeEach(async () => {
    database = new MemoryDatabase()
    store = await followStore(memoryFs(), '/store', database.open)
    for (const slug of ['bot', 'other']) await newRepository(store, slug)
    const project = await store.project('default')
    bot = project.repository('workflows', 'bot')
    other = project.repository('workflows', 'other')
    asked = 0
    const failed = new Promise<void>((resolve) => (fail = resolve))
    database.delay = async (what) => {
      if (what !== 'append') return
      asked++
      await failed
      throw new DatabaseAway('nobody answers')
    }
  })
  afterEach(async () => {
    database.delay = async () => undefined
    await store.close()
  })

  /** What each of these came to, the first of which is on its way to the database before the others begin. */
  const refusalsOf = async (
    first: () => Promise<unknown>,
    others: readonly (() => Promise<unknown>)[],
    isWaiting = () => true,
  ): Promise<string[]> => {
    const writes = [first()]
    while (asked === 0) await new Promise(setImmediate)
    writes.push(...others.map((write) => write()))
    for (let turns = 20; turns > 0; turns -= isWaiting() ? 1 : 0) await new Promise(setImmediate)
    fail()
    const settled = await Promise.allSettled(writes)
    return settled.map((it) => (it.status === 'rejected' ? (it.reason as Error).message : 'it was stored'))
  }
  const expectOneAsked = (refusals: readonly string[]): void => {
    const [first, ...others] = refusals
    expect(first).to.include('it is not known whether it was')
    for (const refusal of others)
      expect(refusal).to.equal(
        'The database is away (nobody answers). Nothing was stored; try again in a moment.',
      )
    expect(asked).to.equal(1)
  }
  const both = () =>
    transactAcross([bot, other], async ([one, two]) => {
      if (one && two) for (const it of [one, two]) commitOnto(it, 'to both')
    })

  it('has the writes refused that wait for the same repository, with others or by themselves', async () => {
    const before = tipOf(bot)
    const others = [() => commitOnMain(bot, 'two'), both, () => commitOnMain(bot, 'three'), both]
    expectOneAsked(await refusalsOf(() => commitOnMain(bot, 'one'), others))
    expect(tipOf(bot)).to.equal(before)
  })

  it('is refused for several repositories, and those that wait for any of them with it', async () => {
    const others = [() => commitOnMain(bot, 'one'), () => commitOnMain(other, 'two'), both]
    expectOneAsked(await refusalsOf(both, others))
  })

  it('has those refused that wait to be decided with it, of other repositories', async () => {
    // What has its locks is about to be decided.
    const isLocked = () => other.fs.stat(`${other.path}/refs/heads/main.lock`) !== undefined
    const others = [() => commitOnMain(other, 'two')]
    expectOneAsked(await refusalsOf(() => commitOnMain(bot, 'one'), others, isLocked))
  })

  it('has those refused that wait to claim names', async () => {
    const project = await store.project('default')
    const claim = (names?: readonly string[]) => () =>
      project.claimingSlugs(() => commitOnMain(bot, 'claimed'), names)
    const others = [claim(), claim(['it']), claim(), ...Array.from({ length: 70 }, () => claim(['it']))]
    expectOneAsked(await refusalsOf(claim(['it']), others))
  })

  it('disturbs nothing that comes once it is back', async () => {
    await refusalsOf(() => commitOnMain(bot, 'one'), [() => commitOnMain(bot, 'two'), both])
    database.delay = async () => undefined
    await Promise.all([commitOnMain(bot, 'three'), both(), commitOnMain(other, 'four')])
    const depth = async (it: Repository): Promise<number> => (await it.history.node(tipOf(it) ?? '')).depth
    expect([await depth(bot), await depth(other)]).to.deep.equal([3, 3])
  })
})

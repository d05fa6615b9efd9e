import { followStore } from '../../../src/cluster/following/open-following.ts'
import { expect } from 'chai'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { git } from '../../support/git/git-program.ts'
import { ask, type PostgresServer, startPostgres } from '../../support/postgres/postgres.ts'
import type { OpenLog } from '../../../src/cluster/following/shared-log.ts'
import type { Repository } from '../../../src/git/store/repository.ts'
import { Store } from '../../../src/git/store/store.ts'
import { compactPacks, tidy } from '../../../src/cluster/postgres/tidy.ts'
import { Database, type Statement } from '../../../src/cluster/postgres/database.ts'
import { PostgresTable } from '../../../src/cluster/postgres/postgres-table.ts'
import { LostConnection } from '../../../src/cluster/postgres/errors.ts'
import { openPostgres } from '../../../src/cluster/postgres/open-postgres.ts'
import { memoryFs } from '../../../src/storage/memory-fs.ts'
import { nodeFs } from '../../../src/storage/files/node-fs.ts'
import { commitOnMain, newRepository, tipOf } from '../../git/following/repositories.ts'
import { needsPostgres } from '../../support/postgres/needs-postgres.ts'

describe('postgres: many packs of a repository become one', function () {
  let postgres: PostgresServer
  let url: string
  let open: OpenLog
  let database: Database
  let here: Store
  let bot: Repository

  before(async function () {
    needsPostgres(this)
    postgres = await startPostgres()
  })
  after(() => postgres?.stop())
  beforeEach(async () => {
    url = await postgres.database()
    open = openPostgres({ url, reads: undefined, warn: () => undefined })
    database = new Database([url])
    here = await followStore(memoryFs(), '/store', open)
    await newRepository(here, 'bot')
    await newRepository(here, 'quiet')
    bot = await repositoryOf(here, 'bot')
  })
  afterEach(async () => {
    await here.close()
    await database.close()
  })

  const commits = async (count: number, what: string): Promise<void> => {
    for (let number = 0; number < count; number++) await commitOnMain(bot, `${what} ${number}`)
  }
  const age = (): Promise<unknown> => ask(url, "update branchpoint.packs set made = made - interval '2 days'")
  const packsOf = async (slug: string): Promise<number> => {
    const [row] = await ask<{ count: string }>(
      url,
      `select count(*) from branchpoint.packs join branchpoint.repositories on repositories.id = repository
        where path = 'default/workflows/${slug}.git'`,
    )
    return Number(row?.count)
  }
  const compact = (by: Database = database): Promise<number> =>
    compactPacks(by, new PostgresTable(by, 'a test'))

  /** A server with an empty folder on a real disk has what `here` has, and git finds no fault in it. */
  const expectNewServer = async (): Promise<void> => {
    const folder = mkdtempSync(join(tmpdir(), 'branchpoint-compacted-'))
    try {
      const store = await followStore(nodeFs, folder, open)
      const copy = await repositoryOf(store, 'bot')
      expect([...copy.refs.snapshot().refs]).to.deep.equal([...bot.refs.snapshot().refs])
      expect(git(copy.path, ['rev-parse', 'refs/heads/main'])).to.equal(tipOf(bot))
      expect(git(copy.path, ['fsck', '--strict', '--no-dangling', '--no-progress'])).to.equal('')
      await store.close()
    } finally {
      rmSync(folder, { recursive: true })
    }
  }

  it('while others commit, and every object stays', async () => {
    await commits(60, 'long ago')
    await age()
    const [gone] = await Promise.all([compact(), commits(20, 'meanwhile')])
    expect(gone).to.equal(61)
    expect(await packsOf('bot')).to.equal(1 + 20)
    expect(await packsOf('quiet')).to.equal(1)
    await expectNewServer()
    await commits(1, 'afterwards')
    await expectNewServer()
  })

  it('not before there are many, nor while the journal may name them, nor while somebody else does it', async () => {
    await commits(49, 'few')
    await age()
    expect(await compact()).to.equal(0)
    await commits(60, 'young')
    expect(await compact()).to.equal(0)
    await age()
    const other = new PostgresTable(database, 'another')
    const token = await other.takeLease('compaction', 60_000)
    expect(await compact()).to.equal(0)
    await other.dropLease({ name: 'compaction', token: token ?? '' })
    expect(await compact()).to.equal(110)
    expect(await compact()).to.equal(0)
  })

  it('and whoever is killed before it happens leaves what there was', async () => {
    await commits(60, 'long ago')
    await age()
    const doomed = new Killed([url])
    expect(await failureOf(compact(doomed))).to.be.instanceOf(LostConnection)
    await doomed.close()
    expect(await packsOf('bot')).to.equal(61)
    await expectNewServer()
    await age()
    await tidy(database)
    expect(await ask(url, 'select from branchpoint.packs where repository is null')).to.deep.equal([])
    await ask(url, "update branchpoint.leases set until = now() - interval '1 second'")
    expect(await compact()).to.equal(61)
    await expectNewServer()
  })

  it('and whoever is killed right afterwards has done it', async () => {
    await commits(60, 'long ago')
    await age()
    const doomed = new Killed([url], true)
    expect(await failureOf(compact(doomed))).to.be.instanceOf(LostConnection)
    await doomed.close()
    expect(await packsOf('bot')).to.equal(1)
    await expectNewServer()
  })

  it('and a folder that is behind takes the repository over, whether or not the journal tells of it still', async () => {
    const behind = memoryFs()
    await (await followStore(behind, '/store', open)).close()
    await commits(60, 'meanwhile')
    await age()
    expect(await compact()).to.equal(61)
    const again = await followStore(behind, '/store', open)
    const copy = await repositoryOf(again, 'bot')
    expect(tipOf(copy)).to.equal(tipOf(bot))
    expect(await copy.objects.read(tipOf(bot) ?? '')).not.to.equal(undefined)
    await commits(1, 'at last')
    await again.fresh()
    expect(tipOf(copy)).to.equal(tipOf(bot))
    await again.close()
  })

  it('and a folder that is being filled just then gets the new one', async () => {
    await commits(60, 'long ago')
    await age()
    let gone = 0
    const fs = memoryFs()
    const store = await followStore(fs, '/store', async (stream) => {
      const log = await open(stream)
      const smallPacks = log.smallPacks.bind(log)
      log.smallPacks = async (repository, names) => {
        if (gone === 0) gone = await compact()
        return smallPacks(repository, names)
      }
      return log
    })
    expect(gone).to.equal(61)
    const copy = await repositoryOf(store, 'bot')
    expect(tipOf(copy)).to.equal(tipOf(bot))
    expect(await copy.objects.read(tipOf(bot) ?? '')).not.to.equal(undefined)
    await store.close()
  })

  it('but not one whose bytes are others: that stays for verify to tell', async () => {
    await commits(60, 'long ago')
    await age()
    await ask(
      url,
      `update branchpoint.pack_parts set bytes = set_byte(bytes, 20, get_byte(bytes, 20) # 1)
        where pack = (select max(id) from branchpoint.packs where repository = 1)`,
    )
    expect(await compact()).to.equal(60)
    expect(await packsOf('bot')).to.equal(2)
  })
})

/** The database as somebody sees it who is killed when packs are to be replaced, or right after they were: nothing is done any more. */
class Killed extends Database {
  readonly #isAfter: boolean
  #isOver = false

  constructor(urls: readonly string[], isAfter = false) {
    super(urls)
    this.#isAfter = isAfter
  }

  override async query<Row>(statement: Statement): Promise<readonly Row[]> {
    if (this.#isOver) throw new LostConnection('killed')
    return super.query(statement)
  }

  override async transaction<T>(begin: string, work: Parameters<Database['transaction']>[1]): Promise<T> {
    if (this.#isAfter) await super.transaction(begin, work)
    this.#isOver = true
    throw new LostConnection('killed')
  }
}

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  )
}

async function repositoryOf(store: Store, slug: string): Promise<Repository> {
  return (await store.project('default')).repository('workflows', slug)
}

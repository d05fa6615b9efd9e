import { expect } from 'chai'
import { setTimeout as pause } from 'node:timers/promises'
import { Link } from '../../support/postgres/link.ts'
import { ask, type PostgresServer, startPostgres } from '../../support/postgres/postgres.ts'
import type { Proposal } from '../../../src/cluster/following/shared-log.ts'
import { Database, type Statement } from '../../../src/cluster/postgres/database.ts'
import { LostConnection } from '../../../src/cluster/postgres/errors.ts'
import { migrate } from '../../../src/cluster/postgres/open-postgres.ts'
import { PostgresLog } from '../../../src/cluster/postgres/postgres-log.ts'
import { needsPostgres } from '../../support/postgres/needs-postgres.ts'

describe('postgres: an append that was given up', function () {
  let postgres: PostgresServer
  before(async function () {
    needsPostgres(this)
    postgres = await startPostgres()
  })
  after(() => postgres?.stop())

  it('and arrives when it is believed lost, right before it is sent again, has happened once', async () => {
    const url = await postgres.database()
    const link = await Link.to(postgres.port)
    const late = new Late(url, link)
    const log = await PostgresLog.open(late, await migrate(late), 'primary', undefined)
    try {
      await log.append([creation('before')])
      link.goDark()
      // The append is on its way; what comes after it gets through.
      setTimeout(() => link.takeNew(), 1000)
      late.isOnItsWay = true
      const { outcomes, position } = await log.append([creation('bot')])
      expect(outcomes).to.deep.equal([{ versions: [1] }])
      expect(position.n).to.equal(2)
      expect(late.isOnItsWay).to.equal(false)
      const { position: next } = await log.append([creation('after')])
      expect(next.n).to.equal(3)
      expect(await ask(url, 'select n, item from branchpoint.journal order by n')).to.deep.equal([
        { n: '1', item: 0 },
        { n: '2', item: 0 },
        { n: '3', item: 0 },
      ])
    } finally {
      await log.close()
      link.stop()
    }
  })

  it('tells afterwards what of it happened, and why the rest did not', async () => {
    const url = await postgres.database()
    const deaf = new Deaf([url])
    const log = await PostgresLog.open(deaf, await migrate(deaf), 'primary', undefined)
    try {
      await log.append([creation('bot'), claiming('first', 'taken')])
      deaf.isDeaf = true
      const commit = { ...creation('bot').writes[0]!, head: undefined }
      const { outcomes } = await log.append([
        creation('other'),
        creation('bot'),
        claiming('second', 'taken'),
        { ...creation('third'), needs: ['default/workflows/none.git'] },
        { writes: [commit], needs: [], seen: new Map(), notes: [] },
      ])
      expect(deaf.isDeaf).to.equal(false)
      expect(outcomes).to.deep.equal([
        { versions: [1] },
        { refused: 'claimed', what: 'default/workflows/bot.git' },
        { refused: 'claimed', what: 'taken' },
        { refused: 'moved', what: 'default/workflows/none.git' },
        { versions: [2] },
      ])
    } finally {
      await log.close()
    }
  })
})

/** A database whose answer to an append is lost. */
class Deaf extends Database {
  isDeaf = false

  override async queryOnce<Row>(statement: Statement): Promise<readonly Row[]> {
    const rows = await super.queryOnce<Row>(statement)
    if (!this.isDeaf || statement.name !== 'append') return rows
    this.isDeaf = false
    throw new LostConnection(new Error('the answer was lost'))
  }
}

function claiming(slug: string, name: string): Proposal {
  const proposal = creation(slug)
  const claims = [{ name, mustBeFree: true, isTaken: true }]
  return { ...proposal, writes: proposal.writes.map((write) => ({ ...write, claims })) }
}

/** A database to which an append comes after the question what became of it, and before that is answered. */
class Late extends Database {
  isOnItsWay = false
  readonly #url: string
  readonly #link: Link

  constructor(url: string, link: Link) {
    super([url.replace(/:\d+\//, `:${link.port}/`)])
    this.#url = url
    this.#link = link
  }

  override async query<Row>(statement: Statement): Promise<readonly Row[]> {
    const answer = await super.query<Row>(statement)
    if (this.isOnItsWay && statement.text.includes('for update')) {
      this.isOnItsWay = false
      this.#link.comeBack()
      while ((await ask<{ n: string }>(this.#url, 'select n from branchpoint.streams'))[0]?.n !== '2')
        await pause(20)
    }
    return answer
  }
}

function creation(slug: string): Proposal {
  const repository = `default/workflows/${slug}.git`
  const write = { repository, moves: [], staged: [], head: 'main', claims: [] }
  return { writes: [write], needs: [], seen: new Map(), notes: [] }
}

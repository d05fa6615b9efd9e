import { expect } from 'chai'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { git } from '../../../support/git/git-program.ts'
import { ask, type PostgresServer, startPostgres } from '../../../support/postgres/postgres.ts'
import { type RunningService, startService } from '../../../support/servers/service.ts'
import { terminalOf } from '../../../../src/cli/command/terminal.ts'
import { verifyCommand } from '../../../../src/cli/commands/verify.ts'
import { needsPostgres } from '../../../support/postgres/needs-postgres.ts'
import { commit } from './verify-store.ts'

describe('verify of a database', function () {
  let postgres: PostgresServer
  let url: string
  let folder: string
  let service: RunningService

  before(async function () {
    needsPostgres(this)
    postgres = await startPostgres()
  })
  after(() => postgres?.stop())
  beforeEach(async () => {
    url = await postgres.database()
    folder = mkdtempSync(join(tmpdir(), 'branchpoint-copy-'))
    service = await start()
    const made = await service.post('/simple/workflows/', {
      workflow: { slug: 'bot', data: { parameters: {} } },
    })
    await commit(service, made.body.workflow.variant_id, { n: 2 })
    await commit(service, made.body.workflow.variant_id, { text: randomBytes(1_500_000).toString('base64') })
  })
  afterEach(async () => {
    await service.stop({ keepStore: true })
    rmSync(folder, { recursive: true, force: true })
  })

  const start = (): Promise<RunningService> =>
    startService({ storeDir: folder, env: { STORE: url, CACHE_DIR: folder, MAX_DOCUMENT_BYTES: '4194304' } })

  const verify = async (...args: string[]): Promise<{ code: number; lines: string[] }> => {
    const lines: string[] = []
    const code = await verifyCommand.run(args, {
      environment: { STORE: url, CACHE_DIR: folder },
      folder: '.',
      progress: { write: () => undefined },
      signal: new AbortController().signal,
      terminal: terminalOf({}, {}),
      print: (line) => lines.push(line),
      show: async (text) => void lines.push(text),
    })
    return { code, lines }
  }
  const lineOf = async (repository: string): Promise<string> => {
    const { code, lines } = await verify()
    expect(code).to.equal(1)
    return lines.find((line) => line.includes(repository)) ?? ''
  }
  const idOfPack = async (large: boolean): Promise<string> => {
    const [row] = await ask<{ id: string }>(
      url,
      `select packs.id from branchpoint.packs join branchpoint.repositories on repositories.id = repository
        where path = 'default/workflows/bot.git' order by size ${large ? 'desc' : 'asc'} limit 1`,
    )
    return row?.id ?? ''
  }

  it('finds nothing wrong beside the server that follows it, without a copy, and of one project', async () => {
    const { code, lines } = await verify()
    expect(lines.join('\n')).to.match(/^ok {8}default\/workflows\/bot {2}3 packs$/m)
    expect(lines.at(-1)).to.match(/^\d+ repositories: \d+ ok \(/)
    expect(code).to.equal(0)
    const without = await verify('--from', url, '--store', join(folder, 'nothing'), '--project', 'default')
    expect(without.code).to.equal(0)
    expect(without.lines.at(-1)).to.match(/^There is no copy of the database in .*nothing/)
    expect(without.lines.length).to.equal(lines.length + 1)
    const [record] = (await verify('--jsonl')).lines.map((line) => JSON.parse(line))
    expect(record).to.include({ project: 'default', verdict: 'ok' })
  })

  for (const [what, large] of [
    ['small', false],
    ['large', true],
  ] as const) {
    it(`names a ${what} pack whose bytes are others, one that is cut short and one of which a part is gone`, async () => {
      const id = await idOfPack(large)
      const spoil = async (how: string): Promise<string> => {
        const parts = `branchpoint.pack_parts where pack = ${id} and part = 0`
        await ask(url, `create table kept as select * from ${parts}`)
        await ask(url, how.replace('PART', `pack = ${id} and part = 0`))
        const line = await lineOf('workflows/bot')
        await ask(url, `delete from ${parts}`)
        await ask(url, 'insert into branchpoint.pack_parts select * from kept')
        await ask(url, 'drop table kept')
        return line
      }
      const damaged = /^damaged {3}default\/workflows\/bot .*pack-[0-9a-f]{40} in the database: /
      const turned = 'set_byte(bytes, 30, get_byte(bytes, 30) # 1)'
      expect(await spoil(`update branchpoint.pack_parts set bytes = ${turned} where PART`))
        .to.match(damaged)
        .and.match(/its bytes are not those it is named after\. Restore the database/)
      expect(
        await spoil('update branchpoint.pack_parts set bytes = substr(bytes, 1, 40) where PART'),
      ).to.match(/it has \d+ bytes in place of \d+/)
      expect(await spoil('delete from branchpoint.pack_parts where PART')).to.match(
        /it has \d+ bytes in place of \d+|part \d+ of a pack is missing/,
      )
      expect((await verify()).code).to.equal(0)
    })
  }

  it('names refs, the trash and repositories in which the copy differs, and says how it is made right', async () => {
    await service.stop({ keepStore: true })
    const gitdir = join(folder, 'default/workflows/bot.git')
    const tip = git(gitdir, ['rev-parse', 'refs/heads/bot'])
    git(gitdir, ['update-ref', 'refs/heads/bot', `${tip}^`])
    expect(await lineOf('workflows/bot')).to.match(
      /^stale .*refs\/heads\/bot is [0-9a-f]{40} in the folder and [0-9a-f]{40} in the database\. Start its server/,
    )
    git(gitdir, ['update-ref', 'refs/heads/bot', tip])
    git(gitdir, ['clone', '-q', '--bare', '.', '../stray.git'])
    expect(await lineOf('workflows/stray')).to.match(/^stale .*it is in the folder only/)
    rmSync(join(folder, 'default/workflows/stray.git'), { recursive: true })
    await ask(
      url,
      "update branchpoint.repositories set state = 'trashed', stamp = 's' where path like '%bot.git'",
    )
    expect(await lineOf('workflows/bot')).to.match(/it is in the trash in the database only/)
    await ask(
      url,
      "update branchpoint.repositories set state = 'live', stamp = null where path like '%bot.git'",
    )
    rmSync(gitdir, { recursive: true })
    expect(await lineOf('workflows/bot')).to.match(/^stale .*it is not in the folder/)
    // What it says to do is done.
    rmSync(folder, { recursive: true })
    service = await start()
    expect((await verify()).code).to.equal(0)
  })

  it('names a torn pack in the copy', async () => {
    const packs = join(folder, 'default/workflows/bot.git/objects/pack')
    const file = join(packs, readdirSync(packs).find((name) => name.endsWith('.pack')) ?? '')
    const bytes = readFileSync(file)
    const torn = Buffer.from(bytes)
    torn[30]! ^= 1
    rmSync(file)
    writeFileSync(file, torn)
    expect(await lineOf('workflows/bot')).to.match(/^damaged .*git fsck in the folder: /)
    rmSync(file)
    writeFileSync(file, bytes)
    expect((await verify()).code).to.equal(0)
  })

  it('names repositories that are not of the versions that the journal tells of', async () => {
    await ask(url, "update branchpoint.repositories set version = version - 1 where path like '%/bot.git'")
    expect(await lineOf('workflows/bot')).to.match(
      /^damaged .*the journal tells of its version \d+, and it is of version \d+\. Restore the whole database/,
    )
    await ask(url, "update branchpoint.repositories set version = version + 1 where path like '%/bot.git'")
    expect((await verify()).code).to.equal(0)
  })

  it('refuses what is for files, a project that is not there, and a database of something else', async () => {
    const failure = (...args: string[]): Promise<string> =>
      verify(...args).then(
        () => 'nothing',
        (error: unknown) => String(error),
      )
    expect(await failure('--repair')).to.match(/are for a store of files/)
    expect(await failure('--project', 'other')).to.match(/The database has no project "other"/)
    expect(await failure('--from', await postgres.database())).to.match(/holds nothing of Branchpoint/)
    expect(await failure('--from', 'postgres://bp@127.0.0.1:1/none')).to.match(/Cannot open the database/)
    expect(await failure('--from', './folder')).to.match(/is not the address of a database/)
  })
})

import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { git } from '../../support/git/git-program.ts'
import { ask, type PostgresServer, startPostgres } from '../../support/postgres/postgres.ts'
import { needsPostgres } from '../../support/postgres/needs-postgres.ts'
import { type RunningService, startService } from '../../support/servers/service.ts'
import { cloneOf, latest } from '../../support/git/git-client.ts'

describe('http: two servers over one PostgreSQL', function () {
  let postgres: PostgresServer
  let url: string
  let services: RunningService[]

  before(async function () {
    needsPostgres(this)
    postgres = await startPostgres()
    url = await postgres.database()
    services = [await server(), await server()]
  })
  after(async () => {
    for (const service of services ?? []) await service.stop()
    await postgres?.stop()
  })

  const server = (folder = mkdtempSync(join(tmpdir(), 'branchpoint-copy-'))): Promise<RunningService> =>
    startService({ storeDir: folder, env: { STORE: url, CACHE_DIR: folder } })
  const either = (number: number): RunningService => services[number % services.length]!
  const create = async (service: RunningService, slug: string): Promise<any> => {
    const data = { parameters: { number: 1 } }
    const reply = await service.post('/simple/workflows/', { workflow: { slug, data } })
    expect(reply.status, reply.text).to.equal(200)
    return reply.body.workflow
  }
  const commit = async (service: RunningService, variant: string, number: number) =>
    service.post('/workflows/revisions/commit', {
      workflow_revision_commit: { workflow_variant_id: variant, data: { parameters: { number } } },
    })

  it('answers at either what was acknowledged at the other', async () => {
    const bot = await create(either(0), 'bot')
    for (let number = 2; number <= 9; number++) {
      const reply = await commit(either(number), bot.variant_id, number)
      expect(reply.status, reply.text).to.equal(200)
      expect(reply.body.workflow_revision.version).to.equal(number)
      expect(await latest(either(number + 1), 'bot')).to.include({
        version: number,
        id: reply.body.workflow_revision.id,
      })
      const list = await either(number + 1).post('/workflows/query', {})
      expect(list.body.workflows.map((it: any) => it.slug)).to.include('bot')
    }
  })

  it('commits and deploys in one write at one, and retrieves it by the environment at the other', async () => {
    const joint = await create(either(0), 'joint')
    const reply = await either(1).post('/workflows/revisions/commit', {
      workflow_revision_commit: {
        workflow_variant_id: joint.variant_id,
        data: { parameters: { number: 2 } },
        deploy: ['production'],
      },
    })
    expect(reply.status, reply.text).to.equal(200)
    const found = await either(0).post('/workflows/revisions/retrieve', {
      workflow_ref: { slug: 'joint' },
      environment_ref: { slug: 'production' },
    })
    expect(found.status, found.text).to.equal(200)
    expect(found.body.workflow_revision.id).to.equal(reply.body.workflow_revision.id)
    const alone = await either(0).post('/workflows/revisions/deploy', {
      workflow_ref: { slug: 'joint' },
      environment_ref: { slug: 'staging' },
    })
    expect(alone.status, alone.text).to.equal(200)
    const there = await either(1).post('/workflows/revisions/retrieve', {
      workflow_ref: { slug: 'joint' },
      environment_ref: { slug: 'staging' },
    })
    expect(there.body.workflow_revision.version).to.equal(2)
  })

  it('clones from one what is pushed to the other, small and large', async () => {
    await create(either(0), 'pushed')
    const clone = await cloneOf(either(1), 'pushed')
    clone.write('data.json', '{"parameters": {"number": 2}}')
    await clone.commit('By hand')
    await clone.git('push', '-q')
    expect(await latest(either(0), 'pushed')).to.include({ version: 2, message: 'By hand' })
    // Too large for a decision: it goes to the database in parts.
    clone.write('README.md', randomText(3_000_000))
    await clone.commit('Large')
    await clone.git('push', '-q')
    await clone.git('tag', 'Release')
    await clone.git('push', '-q', 'origin', 'Release')
    const other = await cloneOf(either(0), 'pushed')
    expect(await other.git('rev-parse', 'HEAD', 'Release^{commit}')).to.equal(
      await clone.git('rev-parse', 'HEAD', 'Release^{commit}'),
    )
  })

  it('takes a large testset at one and answers its rows at the other', async () => {
    const rows = Array.from({ length: 5000 }, (_, number) => ({
      number,
      text: `row ${number} ${'x'.repeat(100)}`,
    }))
    const made = await either(0).post('/simple/testsets/', {
      testset: { slug: 'rows', data: { testcases: rows.map((data) => ({ data })) } },
    })
    expect(made.status, made.text.slice(0, 500)).to.equal(200)
    const found = await either(1).post('/testsets/revisions/retrieve', { testset_ref: { slug: 'rows' } })
    expect(found.status, found.text.slice(0, 500)).to.equal(200)
    expect(found.body.testset_revision.data.testcases).to.have.length(5000)
  })

  it('lets 40 clients at both commit to one variant, and loses none of it', async () => {
    const busy = await create(either(0), 'busy')
    const replies = await Promise.all(
      Array.from({ length: 40 }, (_, number) => commit(either(number), busy.variant_id, 100 + number)),
    )
    expect(replies.map(({ status }) => status)).to.deep.equal(replies.map(() => 200))
    const versions = replies.map(({ body }) => body.workflow_revision.version).sort((a, b) => a - b)
    expect(versions).to.deep.equal(Array.from({ length: 40 }, (_, number) => number + 2))
    for (const service of services) expect(await latest(service, 'busy')).to.include({ version: 41 })
  })

  it('gives a slug once, whatever its case, to clients of both', async () => {
    const replies = await Promise.all(
      ['Taken', 'tAKEN', 'taken', 'TAKEN'].map((slug, number) =>
        either(number).post('/workflows/', { workflow: { slug } }),
      ),
    )
    expect(replies.map(({ status }) => status).sort()).to.deep.equal([200, 409, 409, 409])
    const refused = replies.filter(({ status }) => status === 409)
    expect(refused.map(({ body }) => body.code)).to.deep.equal(refused.map(() => 'slug_taken'))
  })

  it('trashes at one what the other does not find any more, and undeletes it there', async () => {
    const { id } = await create(either(0), 'removed')
    const removed = await either(1).call('DELETE', `/simple/workflows/${id}`)
    expect(removed.status, removed.text).to.equal(200)
    expect((await either(0).get(`/simple/workflows/${id}`)).status).to.equal(404)
    const back = await either(0).post(`/simple/workflows/${id}/undelete`)
    expect(back.status, back.text).to.equal(200)
    expect((await either(1).get(`/simple/workflows/${id}`)).status).to.equal(200)
  })

  it('goes on after a server was stopped and started over its folder, and over an empty one', async () => {
    const bot = await create(either(0), 'resumed')
    const [first, second] = [either(0), either(1)]
    await second.stop({ keepStore: true })
    expect((await commit(first, bot.variant_id, 2)).status).to.equal(200)
    services[1] = await server(second.storeDir)
    expect(await latest(either(1), 'resumed')).to.include({ version: 2 })
    services.push(await server())
    expect(await latest(services[2]!, 'resumed')).to.include({ version: 2 })
    expect((await commit(services[2]!, bot.variant_id, 3)).body.workflow_revision.version).to.equal(3)
  })

  it('waits for a database that is away, answers 503 in the end, and goes on when it is back', async () => {
    const bot = await create(either(0), 'patient')
    await postgres.kill()
    const refused = await commit(either(0), bot.variant_id, 1)
    expect(refused.status, refused.text).to.equal(503)
    expect(refused.body.code).to.equal('storage_unavailable')
    expect(refused.headers.get('retry-after')).to.equal('1')
    const waiting = either(0).post('/workflows/query', {})
    await postgres.again()
    expect((await waiting).status).to.equal(200)
    const reply = await commit(either(1), bot.variant_id, 2)
    expect(reply.status, reply.text).to.equal(200)
    expect(await latest(either(0), 'patient')).to.include({ version: 2 })
  })

  it('leaves folders that git finds sound, with equal refs, and the same refs in the database', async () => {
    for (const service of services) await service.post('/workflows/query', {})
    const [first, ...others] = services.map(({ storeDir }) => refsBelow(join(storeDir, 'default')))
    for (const other of others) expect(other).to.deep.equal(first)
    const rows = await ask<{ path: string; name: string; oid: string }>(
      url,
      'select path, name, oid from branchpoint.refs join branchpoint.repositories on id = repository order by path, name',
    )
    const inDatabase: Record<string, string> = {}
    for (const { path, name, oid } of rows) inDatabase[`${path.slice('default/'.length)} ${name}`] = oid
    expect(first).to.deep.equal(inDatabase)
    for (const { storeDir } of services)
      for (const path of repositoriesBelow(join(storeDir, 'default')))
        expect(git(path, ['fsck', '--strict', '--no-dangling'])).to.equal('')
  })

  it('are backed up from the database, and restored into another one', async () => {
    const backup = mkdtempSync(join(tmpdir(), 'branchpoint-backup-'))
    const database = await postgres.database()
    try {
      await branchpoint('backup', '--from', url, '--to', backup)
      expect(git(join(backup, 'default/workflows/bot.git'), ['rev-parse', 'refs/heads/bot'])).to.equal(
        git(either(0).repository('bot'), ['rev-parse', 'refs/heads/bot']),
      )
      await branchpoint('restore', '--from', backup, '--to', database)
      const folders = [1, 2].map(() => mkdtempSync(join(tmpdir(), 'branchpoint-copy-')))
      for (const folder of folders) {
        const restored = await startService({ storeDir: folder, env: { STORE: database, CACHE_DIR: folder } })
        for (const slug of ['bot', 'joint', 'busy'])
          expect((await latest(restored, slug)).id).to.equal((await latest(either(0), slug)).id)
        const found = await restored.post('/workflows/revisions/retrieve', {
          workflow_ref: { slug: 'joint' },
          environment_ref: { slug: 'production' },
        })
        expect(found.status, found.text).to.equal(200)
        const taken = await restored.post('/workflows/', { workflow: { slug: 'BOT' } })
        expect(taken.body.code).to.equal('slug_taken')
        await restored.stop()
      }
    } finally {
      rmSync(backup, { recursive: true })
    }
  })

  it('refuses a folder that another server uses, of another database, or of files', async () => {
    const inUse = await refusal(() => server(either(0).storeDir))
    expect(inUse).to.match(/Another server uses the folder/)
    const other = await postgres.database()
    await services.pop()?.stop()
    const folder = either(1).storeDir
    await either(1).stop({ keepStore: true })
    services.pop()
    const foreign = await refusal(() =>
      startService({ storeDir: folder, env: { STORE: other, CACHE_DIR: folder } }),
    )
    expect(foreign).to.match(/is a copy of the database/)
    rmSync(folder, { recursive: true })
    const files = await startService()
    await files.stop({ keepStore: true })
    expect(await refusal(() => server(files.storeDir))).to.match(/holds a store of files/)
    rmSync(files.storeDir, { recursive: true })
  })

  it('refuses a database that would lose what it acknowledged, or is of a later version', async () => {
    const name = new URL(url).pathname.slice(1)
    await ask(url, `alter database ${name} set session_replication_role = replica`)
    expect(await refusal(() => server())).to.match(/session_replication_role=replica/)
    await ask(url, `alter database ${name} reset session_replication_role`)
    await ask(url, 'update branchpoint.database set version = 999')
    expect(await refusal(() => server())).to.match(/schema of version 999/)
    await ask(url, 'update branchpoint.database set version = 1')
  })
})

/** Runs a command of the command line; rejects unless it ends well. */
async function branchpoint(...args: readonly string[]): Promise<void> {
  const main = fileURLToPath(new URL('../../../src/cli/main.js', import.meta.url))
  await promisify(execFile)(process.execPath, [main, ...args])
}

async function refusal(start: () => Promise<RunningService>): Promise<string> {
  try {
    const service = await start()
    await service.stop()
  } catch (error) {
    return String(error)
  }
  return 'it started'
}

/** What git does not make small. */
function randomText(length: number): string {
  let text = ''
  while (text.length < length) text += Math.random().toString(36).slice(2)
  return text
}

function repositoriesBelow(project: string): string[] {
  return readdirSync(project).flatMap((family) => {
    if (
      family.startsWith('.') ||
      !readdirSync(project, { withFileTypes: true }).some((it) => it.name === family && it.isDirectory())
    )
      return []
    return readdirSync(join(project, family))
      .filter((name) => name.endsWith('.git') && !name.startsWith('.'))
      .map((name) => join(project, family, name))
  })
}

function refsBelow(project: string): Record<string, string> {
  const refs: Record<string, string> = {}
  for (const path of repositoriesBelow(project))
    for (const line of git(path, ['for-each-ref', '--format=%(refname) %(objectname)'])
      .split('\n')
      .filter(Boolean)) {
      const [name, oid] = line.split(' ')
      refs[`${path.slice(project.length + 1)} ${name}`] = oid ?? ''
    }
  return refs
}

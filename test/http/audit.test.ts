import { expect } from 'chai'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { tmpdir } from 'node:os'
import { promisify } from 'node:util'
import { auditEndpoint } from '../../src/http/endpoints/audit-endpoint.ts'
import { nodeFs } from '../../src/storage/files/node-fs.ts'
import { Browser } from '../support/clients/browser.ts'
import { type RunningService, startService } from '../support/servers/service.ts'

const run = promisify(execFile)

interface Entry {
  readonly id: string
  readonly kind: string
  readonly action: string
  readonly principal: { readonly id?: string; readonly name: string } | null
  readonly date: string
  // Tests look into references freely.
  readonly [thing: string]: any
}

describe('http: the audit of a project', () => {
  let service: RunningService
  const folder = mkdtempSync(join(tmpdir(), 'audit-'))
  before(async () => (service = await startService()))
  after(async () => {
    await service.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const post = async (path: string, body: object = {}, headers?: Record<string, string>) => {
    const reply = await service.post(path, body, headers)
    expect(reply.status, `${path} ${reply.text}`).to.equal(200)
    return reply.body
  }
  const audit = async (filter: object = {}, windowing?: object): Promise<readonly Entry[]> =>
    (await post('/audit/query', { audit: filter, ...(windowing ? { windowing } : {}) })).entries
  const actions = async (...kind: string[]): Promise<readonly string[]> =>
    (await audit({ kind })).map(({ action }) => action)
  const as = (secret: string) => ({ authorization: `ApiKey ${secret}` })
  const admin = { id: 'key:admin', kind: 'key', name: 'admin' }

  // interface 14.9
  it('says who made and revoked keys, set secrets, signed in, and made projects', async () => {
    const { key } = await post('/keys', { key: { name: 'Pat', scopes: ['admin'] } })
    const pat = { id: `key:${key.id}`, kind: 'key', name: 'Pat' }
    const { key: brief } = await post('/keys', { key: { name: 'brief', scopes: ['read'] } }, as(key.secret))
    await service.call('DELETE', `/keys/${brief.id}`)
    const keys = await audit({ kind: ['key'] })
    expect(keys.map(({ action, principal, key: it }) => [action, principal, it.name])).to.deep.equal([
      ['created', admin, 'Pat'],
      ['created', pat, 'brief'],
      ['revoked', admin, 'brief'],
    ])
    expect(keys[2]?.['key']).to.deep.equal({ id: brief.id, name: 'brief' })

    await service.put('/secrets/TOKEN', { secret: { value: 'sk-marked' } })
    await service.call('DELETE', '/secrets/TOKEN', undefined, as(key.secret))
    const secrets = await audit({ kind: ['secret'] })
    expect(secrets.map(({ action, principal, secret }) => [action, principal, secret])).to.deep.equal([
      ['set', admin, { name: 'TOKEN' }],
      ['removed', pat, { name: 'TOKEN' }],
    ])

    const browser = new Browser(service.url)
    await browser.signIn(key.secret)
    await browser.call('DELETE', '/sessions/current')
    const sessions = await audit({ kind: ['session'] })
    expect(sessions.map(({ action, principal }) => [action, principal])).to.deep.equal([
      ['began', pat],
      ['ended', pat],
    ])
    expect(sessions[0]?.['session']).to.deep.equal(sessions[1]?.['session'])

    const { key: first } = await post('/projects', { project: { name: 'Team' } }, as(key.secret))
    const [project, ...more] = await audit({ kind: ['project'] })
    expect([project?.principal, project?.['project'], more]).to.deep.equal([pat, { name: 'Team' }, []])
    // Another project sees its own alone.
    const there = await post('/audit/query', {}, as(first.secret))
    expect(there.entries.map(({ action, key: it }: Entry) => [action, it.name])).to.deep.equal([
      ['created', 'admin'],
    ])
    expect((await service.post('/audit/query')).text).to.not.contain('marked')
  })

  // interface 14.9
  it('says who guarded, archived, trashed and deployed, also by a push, and what', async () => {
    const { key } = await post('/keys', { key: { name: 'Op', scopes: ['admin'] } })
    const op = as(key.secret)
    const by = { id: `key:${key.id}`, kind: 'key', name: 'Op' }
    const { environment } = (await service.get('/simple/environments/production')).body
    await post(`/simple/environments/${environment.id}/guard`, {}, op)
    await post(`/simple/environments/${environment.id}/unguard`)
    const guards = await audit({ kind: ['guard'] })
    expect(
      guards.map(({ action, principal, environment: it }) => [action, principal, it.slug]),
    ).to.deep.equal([
      ['guarded', by, 'production'],
      ['unguarded', admin, 'production'],
    ])

    const make = async (slug: string) =>
      (await post('/simple/workflows', { workflow: { slug, data: { parameters: { a: 1 } } } })).workflow
    const [bot, gone] = [await make('bot'), await make('gone')]
    await post(`/workflows/revisions/${bot.revision_id}/archive`, {}, op)
    await post(`/workflows/revisions/${bot.revision_id}/unarchive`)
    await post(`/workflows/variants/${bot.variant_id}/archive`, {}, op)
    await post(`/workflows/variants/${bot.variant_id}/unarchive`)
    await post(`/simple/workflows/${bot.id}/archive`, {}, op)
    await post(`/simple/workflows/${bot.id}/unarchive`)
    const archives = await audit({ kind: ['archive'] })
    expect(archives.map(({ action, principal }) => `${action} ${principal?.name}`)).to.have.members([
      ...[
        'archived Op',
        'unarchived admin',
        'archived Op',
        'unarchived admin',
        'archived Op',
        'unarchived admin',
      ],
    ])
    for (const it of archives) expect(it['workflow']).to.deep.equal({ id: bot.id, slug: 'bot' })
    const ids = archives
      .flatMap((it) => [it['workflow_variant']?.id, it['workflow_revision']?.id])
      .filter(Boolean)
    expect(new Set(ids)).to.deep.equal(new Set([bot.variant_id, bot.revision_id]))

    await service.call('DELETE', `/simple/workflows/${gone.id}`, undefined, op)
    await post(`/simple/workflows/${gone.id}/undelete`)
    await service.call('DELETE', `/simple/workflows/${gone.id}`)
    const trash = await audit({ kind: ['trash'] })
    expect(
      trash.map(({ action, principal, workflow }) => [action, principal?.name, workflow.slug]),
    ).to.deep.equal([
      ['trashed', 'Op', 'gone'],
      ['undeleted', 'admin', 'gone'],
      ['trashed', 'admin', 'gone'],
    ])

    await post(
      '/workflows/revisions/deploy',
      { workflow_revision_ref: { id: bot.revision_id }, environment_ref: { slug: 'production' } },
      op,
    )
    const clone = join(folder, 'clone')
    const url = `${service.url.replace('//', `//x:${key.secret}@`)}/git/environments/production.git`
    await run('git', ['clone', '-q', url, clone])
    writeFileSync(join(clone, 'references.json'), '{}\n')
    const forged = ['-c', 'user.name=Mallory', '-c', 'user.email=m@example.org']
    await run('git', ['-C', clone, ...forged, 'commit', '-qam', 'Take it down'])
    await run('git', ['-C', clone, 'push', '-q'])
    const deployments = await audit({ kind: ['deployment'] })
    expect(deployments.map(({ principal }) => principal)).to.deep.equal([by, by])
    expect(deployments[0]?.['deployment']).to.deep.equal({
      key: 'bot.revision',
      to: {
        workflow: { id: bot.id, slug: 'bot' },
        workflow_revision: deployments[0]?.['deployment'].to.workflow_revision,
      },
    })
    expect(deployments[0]?.['deployment'].to.workflow_revision.id).to.equal(bot.revision_id)
    expect(deployments[1]?.['deployment']).to.deep.equal({ key: 'bot.revision' })
  })

  // interface 14.9
  it('is filtered by principal, kind and time, and windowed as other lists are', async () => {
    const all = await audit()
    expect(all.map(({ date }) => date)).to.deep.equal(all.map(({ date }) => date).sort())
    expect(new Set(all.map(({ id }) => id)).size).to.equal(all.length)
    expect(await audit()).to.deep.equal(all)
    const ofOp = all.filter(({ principal }) => principal?.name === 'Op')
    expect(await audit({ principal: 'Op' })).to.deep.equal(ofOp)
    expect(await audit({ principal: ofOp[0]?.principal?.id })).to.deep.equal(ofOp)
    expect(await audit({ principal: 'nobody' })).to.deep.equal([])
    expect(await actions('guard', 'project')).to.have.members(['created', 'guarded', 'unguarded'])
    const pages: Entry[] = []
    let next: string | undefined
    do {
      const windowing = { limit: 7, order: 'descending', ...(next === undefined ? {} : { next }) }
      const page = await post('/audit/query', { windowing })
      pages.push(...page.entries)
      next = page.windowing?.next
    } while (next !== undefined)
    expect(pages).to.deep.equal([...all].reverse())
    const middle = all[Math.floor(all.length / 2)]?.date ?? ''
    const since = await audit({}, { oldest: middle, order: 'descending' })
    expect(since).to.deep.equal(all.filter(({ date }) => date >= middle).reverse())
  })

  // interface 14.9
  it('tells the key of SVC_API_KEY from a stored one of its name', async () => {
    const { key } = await post('/keys', { key: { name: 'admin', scopes: ['admin'] } })
    const make = async (slug: string) =>
      (await post('/simple/workflows', { workflow: { slug, data: { parameters: { a: 1 } } } })).workflow
    const since = new Date(Date.now() - 1000).toISOString()
    for (const headers of [undefined, as(key.secret)]) {
      const { revision_id: id } = await make(headers ? 'by-stored' : 'by-servers')
      const body = { workflow_revision_ref: { id }, environment_ref: { slug: 'staging' } }
      await post('/workflows/revisions/deploy', body, headers)
    }
    const deployed = async () =>
      (await audit({ kind: ['deployment'] }, { oldest: since, order: 'ascending' }))
        .filter(({ environment }) => environment.slug === 'staging')
        .map(({ principal }) => principal)
    const stored = { id: `key:${key.id}`, kind: 'key', name: 'admin' }
    expect(await deployed()).to.deep.equal([admin, stored])
    // A commit of an earlier version names no key: then the name alone is said.
    const gitDir = service.repository('staging', 'environments')
    const git = async (...args: string[]) =>
      (
        await run('git', [
          '-C',
          gitDir,
          '-c',
          'user.name=admin',
          '-c',
          'user.email=admin@branchpoint.local',
          ...args,
        ])
      ).stdout.trim()
    const head = await git('rev-parse', 'HEAD')
    const tree = (
      await run('sh', [
        '-c',
        `cd ${gitDir} && printf '100644 blob %s\treferences.json\n' $(echo '{}' | git hash-object -w --stdin) | git mktree`,
      ])
    ).stdout.trim()
    await git(
      'update-ref',
      await git('symbolic-ref', 'HEAD'),
      await git('commit-tree', '-p', head, '-m', 'x', tree),
    )
    expect(new Set(await deployed())).to.deep.include({ kind: 'key', name: 'admin' })
    expect((await deployed()).slice(0, 2)).to.deep.equal([admin, stored])
  })

  // interface 14.9
  it('reads of a history what the page needs', async () => {
    const { workflow } = await post('/simple/workflows', { workflow: { slug: 'long', data: {} } })
    const gitDir = service.repository('long')
    const git = async (...args: string[]) => (await run('git', ['-C', gitDir, ...args])).stdout.trim()
    // What is older cannot be read.
    const tree = await git('rev-parse', 'refs/meta/artifact^{tree}')
    const file = join(folder, 'commit')
    const who = 'Old <old@example.org> 600000000 +0000'
    writeFileSync(file, `tree ${tree}\nparent ${'1'.repeat(40)}\nauthor ${who}\ncommitter ${who}\n\nOld\n`)
    const old = await git('hash-object', '-t', 'commit', '-w', '--literally', file)
    await git('update-ref', 'refs/meta/artifact', old)
    await post(`/simple/workflows/${workflow.id}/archive`)
    await post(`/simple/workflows/${workflow.id}/unarchive`)
    const ofLong = async (windowing: object) =>
      (await audit({ kind: ['archive'] }, windowing)).filter((it) => it['workflow']?.slug === 'long')
    const damaged = async () => (await service.get('/ready')).body.damaged
    expect((await ofLong({ limit: 1 })).map(({ action }) => action)).to.deep.equal(['unarchived'])
    const since = new Date(Date.now() - 60_000).toISOString()
    expect(await ofLong({ oldest: since })).to.have.length(2)
    expect(await damaged()).to.deep.equal([])
    expect(await ofLong({ limit: 1000 })).to.have.length(2)
    expect((await damaged()).map((it: any) => it.repository)).to.deep.equal(['workflows/long'])
  })

  // interface 14.9
  it('ends with its client, and after its time with a refusal', async () => {
    function* endless() {
      for (;;) yield { metaCommit: undefined, repository: {}, family: {} }
    }
    const registry = {
      store: { folder: join(folder, 'default') },
      families: [{}],
      index: { list: async () => endless() },
      trash: { list: async () => [] },
    }
    const place = { fs: nodeFs, storeDir: folder, sessions: { acts: () => [] } }
    const ask = async (mostMs: number, signal: AbortSignal) => {
      const audited = auditEndpoint({ ...place, secretsOf: () => ({ acts: () => [] }), mostMs })
      // Of a project without an end it needs no more.
      const call = { registry, input: { filter: { kind: ['archive'] } }, untilGone: () => signal }
      return Promise.resolve(audited.run(call as never)).then(
        () => 'answered',
        (error: { code: string }) => error.code ?? error,
      )
    }
    const client = new AbortController()
    expect(await ask(50, client.signal)).to.equal('query_too_slow')
    const asked = ask(60_000, client.signal)
    client.abort({ code: 'gone' })
    expect(await asked).to.equal('gone')
  })

  it('wants the scope admin, and refuses kinds that are none', async () => {
    const { key } = await post('/keys', { key: { name: 'r', scopes: ['read', 'write', 'deploy', 'invoke'] } })
    const refused = await service.post('/audit/query', {}, as(key.secret))
    expect([refused.status, refused.body.code]).to.deep.equal([403, 'missing_scope'])
    for (const body of [
      { audit: { kind: ['moon'] } },
      { audit: { actor: 'x' } },
      { windowing: { next: 'x' } },
    ]) {
      const { status, text } = await service.post('/audit/query', body)
      expect(status, text).to.equal(422)
    }
  })

  it('has what an earlier version wrote, without a principal where there was none', async () => {
    const old = await startService()
    try {
      await old.put('/secrets/OLD', { secret: { value: 'x' } })
      await old.post('/keys', { key: { name: 'old', scopes: ['read'] } })
      for (const name of ['keys', 'secrets']) {
        const path = join(old.storeDir, `default/${name}.json`)
        const { log: _, ...record } = JSON.parse(readFileSync(path, 'utf8'))
        writeFileSync(path, JSON.stringify(record).replace(/,"created_by":"[^"]*"/, ''))
      }
      const { entries } = (await old.post('/audit/query')).body
      expect(
        entries.map(({ kind, action, principal }: Entry) => [kind, action, principal]),
      ).to.have.deep.members([
        ['secret', 'set', null],
        ['key', 'created', null],
      ])
    } finally {
      await old.stop()
    }
  })
})

import { expect } from 'chai'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { ask, type PostgresServer, startPostgres } from '../../support/postgres/postgres.ts'
import { type RunningService, startService } from '../../support/servers/service.ts'
import { needsPostgres } from '../../support/postgres/needs-postgres.ts'
import { cloneOf, latest } from '../../support/git/git-client.ts'

/** A server fills its folder before it listens where there are no more repositories. */
const FEW = 1000

describe('http: a new server over a database of many repositories', function () {
  let postgres: PostgresServer
  let url: string
  let old: RunningService
  let fresh: RunningService

  before(async function () {
    needsPostgres(this)
    postgres = await startPostgres()
    url = await postgres.database()
    old = await server()
    for (const slug of ['alpha', 'middle', 'zebra']) {
      const reply = await old.post('/simple/workflows/', {
        workflow: { slug, data: { parameters: { slug } } },
      })
      expect(reply.status, reply.text).to.equal(200)
    }
    // Of another project, and empty: they only have to be many.
    await ask(
      url,
      `insert into branchpoint.repositories (path, version, state, head)
        select 'other/workflows/many-' || number || '.git', 1, 'live', 'main' from generate_series(1, ${FEW}) as number`,
    )
    await ask(url, `create table kept as ${PACK_OF_MIDDLE}`)
    await damageMiddle()
    fresh = await server()
  })
  after(async () => {
    await old?.stop()
    await fresh?.stop()
    await postgres?.stop()
  })

  const server = (folder = mkdtempSync(join(tmpdir(), 'branchpoint-copy-'))): Promise<RunningService> =>
    startService({ storeDir: folder, env: { STORE: url, CACHE_DIR: folder } })
  const damageMiddle = (): Promise<unknown> =>
    ask(url, `update branchpoint.pack_parts set bytes = 'PACK'::bytea where pack in (select pack from kept)`)
  const mendMiddle = (): Promise<unknown> =>
    ask(
      url,
      'update branchpoint.pack_parts set bytes = kept.bytes from kept where pack_parts.pack = kept.pack and pack_parts.part = kept.part',
    )
  const idOf = async (slug: string): Promise<string> => {
    const found = await old.post('/workflows/query', { workflow_refs: [{ slug }] })
    return found.body.workflows[0].id
  }

  it('listens, says how far it is, and what it cannot answer yet', async () => {
    const ready = await fresh.get('/ready')
    expect(ready.status).to.equal(503)
    expect(ready.headers.get('retry-after')).to.equal('1')
    expect(ready.body.status).to.equal('filling')
    expect(ready.body.filling).to.deep.equal({ repositories: ready.body.filling.repositories, of: FEW + 6 })
    const list = await fresh.post('/workflows/query', {})
    expect(list.status).to.equal(503)
    expect(list.headers.get('retry-after')).to.equal('1')
    expect(list.body.detail).to.include(`of ${FEW + 6} repositories`)
  })

  it('answers what is asked for by its slug, clone and push included, while one that is damaged keeps the rest from coming', async () => {
    expect(await latest(fresh, 'zebra')).to.include({ version: 1 })
    const clone = await cloneOf(fresh, 'zebra')
    clone.write('data.json', '{"parameters": {"slug": "pushed"}}')
    await clone.commit('By hand')
    await clone.git('push', '-q')
    expect(await latest(old, 'zebra')).to.include({ version: 2, message: 'By hand' })
    const id = (await latest(old, 'alpha')).id
    const alpha = await fresh.post('/workflows/revisions/retrieve', { workflow_revision_ref: { id } })
    expect(alpha.status, alpha.text).to.equal(200)
    const none = await fresh.post('/workflows/revisions/retrieve', { workflow_ref: { slug: 'none' } })
    expect(none.status).to.equal(404)
    const taken = await fresh.post('/simple/workflows/', { workflow: { slug: 'Zebra', data: {} } })
    expect([taken.status, taken.body.code]).to.deep.equal([409, 'slug_taken'])
    // That another server writes to it keeps nobody from the others.
    const commit = { workflow_variant_ref: { slug: 'middle' }, data: { parameters: { number: 2 } } }
    const written = await old.post('/workflows/revisions/commit', { workflow_revision_commit: commit })
    expect(written.status, written.text).to.equal(200)
    expect(await latest(fresh, 'zebra')).to.include({ version: 2 })
    const damaged = await fresh.post('/workflows/revisions/retrieve', { workflow_ref: { slug: 'middle' } })
    expect([damaged.status, damaged.body.code]).to.deep.equal([503, 'damaged_repository'])
  })

  it('is ready once the rest has come, and lists everything', async () => {
    await mendMiddle()
    while ((await fresh.get('/ready')).status !== 200) await pause(50)
    const list = await fresh.post('/workflows/query', {})
    expect(list.body.workflows.map((it: any) => it.slug).sort()).to.deep.equal(['alpha', 'middle', 'zebra'])
    expect(await latest(fresh, 'middle')).to.include({ version: 2 })
  })

  it('after a restart of its machine gives a slug that has become free, and undeletes what is not there yet', async () => {
    const { storeDir } = fresh
    await fresh.stop({ keepStore: true })
    const [alpha, zebra] = [await idOf('alpha'), await idOf('zebra')]
    for (const id of [alpha, zebra])
      expect((await old.call('DELETE', `/simple/workflows/${id}`)).status).to.equal(200)
    expect((await old.call('DELETE', `/trash/${zebra}`)).status).to.equal(200)
    await damageMiddle()
    const position = join(storeDir, '.copy', 'position')
    writeFileSync(position, readFileSync(position, 'utf8').replace(/"boot":"[^"]*"/, '"boot":"before"'))
    fresh = await server(storeDir)
    expect((await fresh.get('/ready')).body.status).to.equal('filling')
    expect((await fresh.call('DELETE', `/trash/${alpha}`)).status).to.equal(503)
    const back = await fresh.post(`/simple/workflows/${alpha}/undelete`)
    expect(back.status, back.text).to.equal(200)
    const again = await fresh.post('/simple/workflows/', { workflow: { slug: 'zebra', data: {} } })
    expect(again.status, again.text).to.equal(200)
    await mendMiddle()
    while ((await fresh.get('/ready')).status !== 200) await pause(50)
    const list = await fresh.post('/workflows/query', {})
    expect(list.body.workflows.map((it: any) => it.slug).sort()).to.deep.equal(['alpha', 'middle', 'zebra'])
  })
})

const PACK_OF_MIDDLE = `select pack_parts.* from branchpoint.pack_parts
  join branchpoint.packs on packs.id = pack join branchpoint.repositories on repositories.id = packs.repository
  where path = 'default/workflows/middle.git'`

import { expect } from 'chai'
import { readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { createApiKey } from '../../../src/access/keys/api-keys.ts'
import { nodeFs } from '../../../src/storage/files/node-fs.ts'
import { type Reply, type RunningService, startService } from '../../support/servers/service.ts'
import { makeSpan } from '../../support/values/make-span.ts'

const data = { parameters: { n: 1 } }

describe('keys that are limited to folders', () => {
  let service: RunningService
  let names = 0

  before(async () => {
    service = await startService()
  })
  after(() => service.stop())

  const create = async (slug: string, folder?: string): Promise<any> =>
    (await service.post('/simple/applications/', { application: { slug, folder, data } })).body.application
  const limited = async (...folders: string[]): Promise<Record<string, string>> => {
    const { token } = await createApiKey(nodeFs, service.storeDir, {
      project: 'default',
      name: `limited ${++names}`,
      scopes: ['read', 'write', 'deploy', 'invoke'],
      folders,
    })
    return { authorization: `ApiKey ${token}` }
  }
  const told = ({ status, body }: Reply): unknown[] => [status, body.code]

  // interface 18.6
  it('are made with folders, shown with them, and refused with anything else, or with admin', async () => {
    const make = (folders: unknown, scopes = ['read']): Promise<Reply> =>
      service.post('/keys', { key: { name: `made ${++names}`, scopes, folders } })
    const { body } = await make(['support/**', 'Shared'])
    expect(body.key.folders).to.deep.equal(['support/**', 'Shared'])
    const listed = (await service.get('/keys')).body.keys.find(({ id }: any) => id === body.key.id)
    expect(listed.folders).to.deep.equal(['support/**', 'Shared'])
    expect((await make(undefined)).body.key).to.not.have.property('folders')
    for (const wrong of [
      [],
      ['**'],
      ['/**'],
      [''],
      ['a/*'],
      ['a/../b'],
      ['a/'],
      ['a/**/b'],
      [7],
      'a',
      ['a', '*'],
    ]) {
      const refused = await make(wrong)
      expect(refused.status, JSON.stringify(wrong)).to.equal(422)
    }
    const many = Array.from({ length: 101 }, (_, at) => `f${at}`)
    expect((await make(many)).status).to.equal(422)
    const admin = await make(['a'], ['read', 'admin'])
    expect(admin.status).to.equal(422)
    expect(admin.body.detail).to.contain('admin')
  })

  // interface 18.6
  it('see what lies directly in a folder, or with /** all below it, whatever the case', async () => {
    await create('at.root')
    await create('at.a', 'Area')
    await create('at.a.b', 'area/b')
    await create('at.area2', 'area2')
    const slugs = async (headers: Record<string, string>): Promise<string[]> => {
      const { body } = await service.post('/applications/query', {}, headers)
      return body.applications.map(({ slug }: any) => slug)
    }
    expect(await slugs(await limited('AREA'))).to.deep.equal(['at.a'])
    expect(await slugs(await limited('area/**'))).to.deep.equal(['at.a', 'at.a.b'])
    expect(await slugs(await limited('area2', 'area/b'))).to.deep.equal(['at.a.b', 'at.area2'])
    const headers = await limited('area/b')
    const { body } = await service.get('/folders', headers)
    expect(body.folders).to.deep.equal([
      { path: 'Area', artifacts: 0, recursive: 1 },
      { path: 'Area/b', artifacts: 1, recursive: 1 },
    ])
    const missing = await service.get('/applications/at.a', headers)
    expect(told(missing)).to.deep.equal([404, 'artifact_not_found'])
    expect(missing.text).to.not.contain('near')
    expect((await service.get('/projects/current', headers)).body.project.counts.applications).to.equal(1)
  })

  // interface 18.7
  it('create and move inside of their folders alone, and learn nothing of a slug that is taken outside', async () => {
    await create('taken', 'hidden')
    await create('inside', 'shop')
    const headers = await limited('shop/**')
    const post = (application: object): Promise<Reply> =>
      service.post('/simple/applications', { application }, headers)
    const put = (folder: string | null): Promise<Reply> =>
      service.call('PUT', '/applications/inside', { application: { folder } }, headers)
    expect((await post({ slug: 'new', folder: 'shop/new', data })).status).to.equal(200)
    for (const folder of ['hidden', undefined, 'shop2'])
      expect(told(await post({ slug: 'other', folder }))).to.deep.equal([403, 'outside_folders'])
    const clash = await post({ slug: 'Taken', folder: 'shop' })
    expect(told(clash)).to.deep.equal([409, 'slug_taken'])
    expect(clash.text).to.not.match(/hidden|archived|"taken"|is free/)
    for (const folder of ['hidden', null, 'shopping'])
      expect(told(await put(folder))).to.deep.equal([403, 'outside_folders'])
    expect((await put('SHOP/old')).body.application.folder).to.equal('shop/old')
    const move = (from: string, to: string): Promise<Reply> =>
      service.post('/folders/move', { from, to }, headers)
    expect(told(await move('hidden', 'shop/x'))).to.deep.equal([404, 'folder_not_found'])
    expect(told(await move('shop/old', 'hidden'))).to.deep.equal([403, 'outside_folders'])
    expect((await move('shop/old', 'shop/older')).body.moved).to.have.length(1)
    expect(told(await service.post('/environments', { environment: { slug: 'x' } }, headers))).to.deep.equal([
      403,
      'outside_folders',
    ])
    expect((await service.get('/applications/taken')).body.application.folder).to.equal('hidden')
  })

  // interface 18.9
  it('deploy to an environment beside what they do not see, and leave that as it is', async () => {
    const other = await create('other.app', 'elsewhere')
    const own = await create('own.app', 'mine')
    const headers = await limited('mine/**')
    const deploy = (slug: string, more: object = {}, as?: Record<string, string>): Promise<Reply> =>
      service.post(
        '/applications/revisions/deploy',
        { application_ref: { slug }, environment_ref: { slug: 'staging' }, ...more },
        as,
      )
    await deploy('other.app', { message: 'About other.app' })
    const done = await deploy('own.app', { message: 'Ours' }, headers)
    expect(done.status, done.text).to.equal(200)
    const clash = await deploy('own.app', { key: 'other.app.revision' }, headers)
    expect(told(clash)).to.deep.equal([409, 'slug_taken'])
    const committed = await service.post(
      '/applications/revisions/commit',
      { application_revision_commit: { variant_id: own.variant_id, data, deploy: ['staging'] } },
      headers,
    )
    expect(committed.status, committed.text).to.equal(200)
    const retrieve = (as?: Record<string, string>): Promise<Reply> =>
      service.post('/environments/revisions/retrieve', { environment_ref: { slug: 'staging' } }, as)
    const whole = (await retrieve()).body.environment_revision
    expect(Object.keys(whole.data.references)).to.deep.equal(['other.app.revision', 'own.app.revision'])
    const part = (await retrieve(headers)).body.environment_revision
    expect(Object.keys(part.data.references)).to.deep.equal(['own.app.revision'])
    expect([part.version, part.message]).to.deep.equal([whole.version, undefined])
    const runs = await service.post('/deployments/query', {}, headers)
    expect(runs.body.deployments.map(({ key }: any) => key)).to.deep.equal(['own.app.revision'])
    const through = (environment_ref: object, as: Record<string, string>, key?: string): Promise<Reply> =>
      service.post('/applications/revisions/retrieve', { environment_ref, key }, as)
    expect((await through({ slug: 'staging' }, headers)).body.application_revision.artifact_id).to.equal(
      own.id,
    )
    expect((await through({ slug: 'staging' }, headers, 'other.app.revision')).status).to.equal(404)
    // Everything else of an environment is closed.
    const variant = part.environment_variant_id
    for (const [method, path, body] of [
      [
        'POST',
        '/environments/revisions/commit',
        { environment_revision_commit: { variant_id: variant, delta: { remove: ['other.app.revision'] } } },
      ],
      [
        'POST',
        '/environments/revisions/commit',
        { environment_revision_commit: { variant_id: variant, data: { references: {} } } },
      ],
      ['PUT', '/environments/staging', { environment: { name: 'x' } }],
      ['POST', '/environments/staging/archive', undefined],
      ['POST', '/simple/environments/staging/guard', undefined],
      ['DELETE', '/simple/environments/staging', undefined],
      ['GET', `/environments/revisions/${part.id}/files`, undefined],
      ['GET', `/environments/revisions/${part.id}/files/references.json`, undefined],
      [
        'POST',
        '/environments/revisions/diff',
        { base: { slug: 'staging', version: 1 }, head: { slug: 'staging', version: 2 } },
      ],
    ] as const) {
      const refused = await service.call(method, path, body, headers)
      expect(told(refused), `${path} ${refused.text}`).to.deep.equal([403, 'outside_folders'])
    }
    expect((await retrieve()).body.environment_revision.id).to.equal(whole.id)
    expect((await service.get(`/applications/${other.id}`)).status).to.equal(200)
  })

  // interface 18.7
  it('embed and merge what they do not see like what is not there', async () => {
    await create('unseen.part', 'unseen')
    await create('seen.part', 'seen')
    const headers = await limited('seen')
    const resolve = (slug: string): Promise<Reply> =>
      service.post(
        '/applications/revisions/resolve',
        {
          application_revision: {
            data: { parameters: { text: `@{{workflow.slug=${slug}, path=n}}` } },
          },
        },
        headers,
      )
    const merge = (slug: string): Promise<Reply> =>
      service.post(
        '/applications/variants/merge',
        { source: { variant: { slug } }, target: { variant: { slug: 'seen.part' } } },
        headers,
      )
    for (const ask of [resolve, merge]) {
      const [unseen, absent] = [await ask('unseen.part'), await ask('absent.part')]
      expect([unseen.status, absent.status], unseen.text).to.deep.equal([422, 422])
      expect(unseen.text.replaceAll('unseen', '')).to.equal(absent.text.replaceAll('absent', ''))
    }
    expect((await resolve('seen.part')).status).to.equal(200)
  })

  // interface 18.10
  it('keep a folder from being moved, unless an admin has them follow', async () => {
    await create('kept', 'team/x')
    const headers = await limited('Team/X/**', 'team/y', 'else')
    const move = (more: object, as?: Record<string, string>): Promise<Reply> =>
      service.post('/folders/move', { from: 'team', to: 'crew', ...more }, as)
    const refused = await move({})
    expect(told(refused)).to.deep.equal([409, 'folder_in_use'])
    expect(refused.body.keys.map(({ folders }: any) => folders)).to.deep.equal([
      ['Team/X/**', 'team/y', 'else'],
    ])
    const asked = await move({ from: 'team/x', to: 'team/z' }, await limited('team/**'))
    expect(told(asked)).to.deep.equal([409, 'folder_in_use'])
    expect(asked.text).to.not.contain('else')
    // The right to move is looked at first.
    expect(told(await move({}, headers))).to.deep.equal([403, 'outside_folders'])
    expect(told(await move({ rename_in_keys: true }, headers))).to.deep.equal([403, 'missing_scope'])
    expect((await move({ to: '', rename_in_keys: true })).status).to.equal(422)
    expect((await move({ rename_in_keys: true })).body.moved).to.have.length(1)
    const { body } = await service.get('/folders', headers)
    expect(body.folders.map(({ path }: any) => path)).to.deep.equal(['crew', 'crew/x'])
    expect((await move({ from: 'crew/x', to: 'crew/z' })).status).to.equal(409)
  })

  // interface 18.10
  it('see both places while something stays, and the old one no more once it is moved, too', async () => {
    const [kept] = [await create('went', 'desk/a'), await create('left', 'desk/b')]
    const left = (await service.get('/simple/applications/left')).body.application
    const headers = await limited('desk/a/**', 'desk/b', 'desk/c')
    const foldersNow = async (): Promise<string[]> =>
      (await service.get('/keys')).body.keys.find(({ name }: any) => name === `limited ${names}`).folders
    const move = (): Promise<Reply> =>
      service.post('/folders/move', { from: 'desk', to: 'counter', rename_in_keys: true })
    await service.post(`/simple/applications/${left.id}/archive`)
    const { body } = await move()
    expect([body.moved, body.failed].map((all) => all.map(({ slug }: any) => slug))).to.deep.equal([
      ['went'],
      ['left'],
    ])
    expect(await foldersNow()).to.deep.equal(['desk/b', 'counter/a/**', 'counter/c'])
    for (const { id } of [kept, left])
      expect((await service.get(`/simple/applications/${id}`, headers)).status).to.equal(200)
    // Nothing moves: the key is as it was.
    expect((await move()).body.failed).to.have.length(1)
    expect(await foldersNow()).to.deep.equal(['desk/b', 'counter/a/**', 'counter/c'])
    await service.post(`/simple/applications/${left.id}/unarchive`)
    expect((await move()).body.moved).to.have.length(1)
    expect(await foldersNow()).to.deep.equal(['counter/a/**', 'counter/c', 'counter/b'])
    expect((await service.get(`/simple/applications/${left.id}`, headers)).status).to.equal(200)
    expect(told(await move())).to.deep.equal([404, 'folder_not_found'])
  })

  // interface 18.10
  it('lose the old place with the next request, if the one that moved everything was cut off', async () => {
    await create('all', 'cut/off')
    const headers = await limited('shop/**', 'cut/off')
    const move = (more: object = {}): Promise<Reply> =>
      service.post('/folders/move', { from: 'cut', to: 'whole', rename_in_keys: true, ...more })
    // As a server leaves it that ends between the last write of an artifact and that of the keys.
    const path = `${service.storeDir}/default/keys.json`
    expect((await move()).body.moved).to.have.length(1)
    writeFileSync(path, readFileSync(path, 'utf8').replace('"whole/off"', '"cut/off","whole/off"'))
    expect((await move()).body).to.deep.include({ count: 0, moved: [], failed: [] })
    const listed = (await service.get('/keys')).body.keys.find(({ name }: any) => name === `limited ${names}`)
    expect(listed.folders).to.deep.equal(['shop/**', 'whole/off'])
    expect((await service.get('/simple/applications/all', headers)).status).to.equal(200)
    // A folder that holds nothing is refused, and the keys that name it stay.
    await limited('bare')
    expect(told(await move({ from: 'bare' }))).to.deep.equal([404, 'folder_not_found'])
  })

  // interface 18.8
  it('run what they see, and see the traces and evaluations of that alone', async () => {
    const code = {
      uri: 'svc:custom:mock:v0',
      parameters: { key: 'static', kwargs: { output: 'evaluate' } },
    }
    for (const [slug, folder] of [
      ['r.own', 'runs'],
      ['r.other', 'apart'],
    ] as const) {
      await service.post('/simple/applications', { application: { slug, folder, data: code } })
      await service.post('/simple/testsets', {
        testset: { slug: `${slug}.rows`, folder, data: { testcases: [{ data: { n: 1 } }] } },
      })
    }
    const headers = await limited('runs')
    const run = (slug: string, as?: Record<string, string>): Promise<Reply> =>
      service.post(
        '/services/invoke',
        { references: { application: { slug } }, data: { inputs: { n: 1 } } },
        as,
      )
    const evaluate = (slug: string, as?: Record<string, string>): Promise<Reply> =>
      service.post(
        '/evaluations/run',
        { testset_ref: { slug: `${slug}.rows` }, application_ref: { slug } },
        as,
      )
    const [mine, theirs] = [await run('r.own', headers), await run('r.other')]
    expect((await run('r.other', headers)).status).to.equal(404)
    expect((await service.get(`/traces/${mine.body.trace_id}`, headers)).status).to.equal(200)
    expect(told(await service.get(`/traces/${theirs.body.trace_id}`, headers))).to.deep.equal([
      404,
      'trace_not_found',
    ])
    const [own, other] = [await evaluate('r.own', headers), await evaluate('r.other')]
    expect(own.status, own.text).to.equal(200)
    expect((await evaluate('r.other', headers)).status).to.equal(404)
    expect((await service.get(`/evaluations/${own.body.evaluation.id}`, headers)).status).to.equal(200)
    expect(told(await service.get(`/evaluations/${other.body.evaluation.id}`, headers))).to.deep.equal([
      404,
      'evaluation_not_found',
    ])
    const traces = (windowing: object): Promise<Reply> =>
      service.post('/traces/query', { windowing }, headers)
    let seen = 0
    for (let next: string | undefined, isFirst = true; isFirst || next !== undefined; isFirst = false) {
      const { body, text } = await traces({ limit: 1, next })
      expect(text).to.not.contain(theirs.body.trace_id)
      seen += body.traces.length
      next = body.windowing?.next
    }
    expect(seen).to.be.at.least(1)
    expect((await traces({ next: theirs.body.trace_id })).status).to.equal(422)
    expect((await traces({ next: mine.body.trace_id })).status).to.equal(200)
    const hits = await service.post('/search', { query: 'evaluate' }, headers)
    expect(hits.body.hits.map((it: any) => it.artifact.slug)).to.deep.equal(['r.own'])
  })

  // interface 18.8, 12.10
  it('add no spans to a trace that they do not see, and continue their own', async () => {
    const code = { uri: 'svc:custom:mock:v0', parameters: { key: 'static', kwargs: { output: 'x' } } }
    for (const folder of ['lane', 'apart'])
      await service.post('/simple/applications', { application: { slug: `t.${folder}`, folder, data: code } })
    const run = async (slug: string, as?: Record<string, string>): Promise<any> =>
      (await service.post('/services/invoke', { references: { application: { slug } } }, as)).body
    const headers = await limited('lane')
    const theirs = await run('t.apart')
    const follow = (trace: string) => ({ ...headers, traceparent: `00-${trace}-b7ad6b7169203331-01` })
    const apart = await run('t.lane', follow(theirs.trace_id))
    expect(apart.status.code).to.equal(200)
    expect(apart.trace_id).to.not.equal(theirs.trace_id)
    const trace = async (id: string): Promise<string> => (await service.get(`/traces/${id}`)).text
    expect(await trace(theirs.trace_id)).to.not.contain('t.lane')
    for (const traceId of [apart.trace_id, 'c'.repeat(32)]) {
      expect((await run('t.lane', follow(traceId))).trace_id).to.equal(traceId)
      expect((await run('t.lane', follow(traceId))).trace_id).to.equal(traceId)
    }
    expect((await run('t.apart', { traceparent: follow(theirs.trace_id).traceparent })).trace_id).to.equal(
      theirs.trace_id,
    )
  })

  // interface 18.8
  it('get a refusal where a long look at traces finds nothing that they see, which also ends with its client', async () => {
    const slow = await startService({ env: { TRACES_QUERY_TIMEOUT_MS: '200' } })
    try {
      const { body } = await slow.post('/keys', { key: { name: 'l', scopes: ['read'], folders: ['none'] } })
      const headers = { authorization: `ApiKey ${body.key.secret}` }
      const span = makeSpan()
      slow.traces.record([span])
      const spans = await slow.traces.read([span.traceId])
      let looks = 0
      // A store of traces without an end, none of which the key sees.
      slow.traces.query = async () => {
        looks++
        return { spans, next: span.traceId }
      }
      for (const path of ['/traces/query', '/spans/query'])
        expect(told(await slow.post(path, { windowing: { limit: 1 } }, headers))).to.deep.equal([
          422,
          'query_too_slow',
        ])
      const client = new AbortController()
      const asked = fetch(`${slow.url}/traces/query`, { method: 'POST', headers, signal: client.signal })
      for (const before = looks; looks === before;) await wait(1)
      client.abort()
      await asked.catch(() => undefined)
      for (let last = -1; last !== looks;) {
        last = looks
        await wait(50)
      }
    } finally {
      await slow.stop()
    }
  })

  // interface 18.8
  it('see of an environment what lies in their folders now, though its revision was answered before', async () => {
    await create('desk.bot', 'desk')
    await service.post('/applications/revisions/deploy', {
      application_revision_ref: { slug: 'desk.bot', version: 1 },
      environment_ref: { slug: 'staging' },
    })
    const headers = await limited('desk')
    const get = (more?: Record<string, string>): Promise<Reply> =>
      service.post(
        '/environments/revisions/retrieve',
        { environment_ref: { slug: 'staging' } },
        { ...headers, ...more },
      )
    const before = await get()
    expect(before.text).to.contain('desk.bot')
    const tag = before.headers.get('etag') ?? ''
    expect((await get({ 'if-none-match': tag })).status).to.equal(304)
    await service.call('PUT', '/applications/desk.bot', { application: { folder: 'away' } })
    const after = await get({ 'if-none-match': tag })
    expect(after.status).to.equal(200)
    expect(after.text).to.not.contain('desk.bot')
  })
})

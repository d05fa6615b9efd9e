import { expect } from 'chai'
import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { type Reply, type RunningService, startService } from '../../support/servers/service.ts'

const SURFACES = ['application', 'evaluator', 'workflow', 'testset', 'query']

const plural = (singular: string): string => (singular === 'query' ? 'queries' : `${singular}s`)

describe('folders', () => {
  let service: RunningService

  before(async () => {
    service = await startService()
  })
  after(() => service.stop())

  const create = async (slug: string, folder?: string, singular = 'application'): Promise<any> => {
    const reply = await service.post(`/simple/${plural(singular)}/`, { [singular]: { slug, folder } })
    expect(reply.status, reply.text).to.equal(200)
    return reply.body[singular]
  }
  /** The folders whose first part begins so. */
  const folders = async (top: string, query = ''): Promise<unknown> =>
    (await service.get(`/folders${query}`)).body.folders.filter(({ path }: any) =>
      path.toLowerCase().startsWith(top),
    )
  const slugsIn = async (filter: object, path = '/simple/applications/query'): Promise<string[]> => {
    const reply = await service.post(path, { application: filter })
    expect(reply.status, reply.text).to.equal(200)
    return reply.body.applications.map(({ slug }: any) => slug)
  }
  const move = (from: string, to: string, headers?: Record<string, string>): Promise<Reply> =>
    service.post('/folders/move', { from, to }, headers)

  // interface 18.1
  it('are a field of artifacts on every surface, kept in git like the slug; environments have none', async () => {
    for (const singular of SURFACES) {
      const made = await create(`${singular}-1`, 'support/tier-1', singular)
      expect(made.folder).to.equal('support/tier-1')
      const full = await service.post(`/${plural(singular)}/`, {
        [singular]: { slug: `${singular}-2`, folder: 'Support/Tier-1/x' },
      })
      // The first spelling stays.
      expect(full.body[singular].folder).to.equal('support/tier-1/x')
      const read = await service.get(`/${plural(singular)}/${singular}-1`)
      expect(read.body[singular].folder).to.equal('support/tier-1')
    }
    for (const path of ['/environments/', '/simple/environments/']) {
      const refused = await service.post(path, { environment: { slug: 'eu', folder: 'support' } })
      expect([refused.status, refused.body.code]).to.deep.equal([422, 'unknown_field'])
      expect(refused.body.errors[0].loc).to.deep.equal(['body', 'environment', 'folder'])
      expect(refused.body.detail).to.contain('environments lie in no folder')
    }
    const edited = await service.put('/environments/production', { environment: { folder: 'support' } })
    expect(edited.status).to.equal(422)
    const asked = await service.post('/environments/query', { environment: { folder: 'support' } })
    expect(asked.status).to.equal(422)
    const gitdir = service.repository('application-1')
    const record = execFileSync('git', ['-C', gitdir, 'show', 'refs/meta/artifact:artifact.json'])
    expect(JSON.parse(String(record)).folder).to.equal('support/tier-1')
  })

  // interface 18.2
  it('are moved by a PUT, which is a commit, keeps all else, and leads to the root by null or an empty text', async () => {
    const { id, name } = await create('bot', 'a')
    const put = async (application: object, path = '/simple/applications'): Promise<any> => {
      const reply = await service.put(`${path}/${id}`, { application })
      expect(reply.status, reply.text).to.equal(200)
      return reply.body.application
    }
    expect((await put({ folder: 'b/c' })).folder).to.equal('b/c')
    expect((await put({ name: 'Bot' })).folder).to.equal('b/c')
    expect((await put({ folder: '' })).folder).to.equal(undefined)
    expect((await put({ folder: 'b' }, '/applications')).folder).to.equal('b')
    expect((await put({ folder: null }, '/applications')).name).to.equal('Bot')
    expect((await service.get(`/applications/${id}`)).body.application).not.to.have.property('folder')
    const log = execFileSync('git', [
      '-C',
      service.repository('bot'),
      'log',
      '--format=%s',
      'refs/meta/artifact',
    ])
    expect(String(log).trim().split('\n')).to.have.length(6)
    expect(name).to.equal(undefined)
    // What a GET answers, a PUT takes.
    await put({ folder: 'b' })
    const { application } = (await service.get(`/simple/applications/${id}`)).body
    expect((await put(application)).folder).to.equal('b')
    await service.post(`/applications/${id}/archive`)
    const refused = await service.put(`/applications/${id}`, { application: { folder: 'x' } })
    expect([refused.status, refused.body.code]).to.deep.equal([409, 'archived'])
  })

  // interface 18.1
  it('have one to eight parts of plain characters; anything else is a 422 that names the part', async () => {
    const parts = (count: number): string => Array.from({ length: count }, (_, at) => `p${at}`).join('/')
    await create('deep', parts(8))
    await create('plain', `A b.c_d-9/${'x'.repeat(64)}`)
    const wrong = [
      parts(9),
      parts(40),
      '/a',
      'a/',
      'a//b',
      '..',
      'a/../b',
      '.a',
      ' a',
      'ä',
      'a\\b',
      'a\nb',
      'x'.repeat(65),
    ]
    for (const folder of [...wrong, '-a', 'a/*', '/', '%2e']) {
      for (const application of [{ slug: 'wrong', folder }]) {
        const refused = await service.post('/simple/applications/', { application })
        expect([refused.status, refused.body.code], folder).to.deep.equal([422, 'invalid_request'])
        const [{ loc, type }] = refused.body.errors
        expect([loc, type]).to.deep.equal([['body', 'application', 'folder'], 'invalid_folder'])
      }
      expect((await service.put('/applications/deep', { application: { folder } })).status).to.equal(422)
      expect((await move(folder, 'b')).status, folder).to.equal(422)
      expect((await service.post('/applications/query', { application: { folder } })).status).to.equal(422)
    }
    expect((await service.get('/applications/wrong')).status).to.equal(404)
    const number = await service.post('/applications/', { application: { folder: 7 } })
    expect(number.status).to.equal(422)
  })

  // interface 18.3
  it('filter lists, of one folder or of all below it, in a body and in a query string', async () => {
    await create('root')
    await create('one', 'Desk')
    await create('two', 'desk/tier-1')
    await create('three', 'desk-2')
    for (const path of ['/applications/query', '/simple/applications/query']) {
      expect(await slugsIn({ folder: 'DESK' }, path)).to.deep.equal(['one'])
      expect(await slugsIn({ folder: 'desk', recursive: true }, path)).to.deep.equal(['one', 'two'])
      expect(await slugsIn({ folder: '' }, path))
        .to.contain('root')
        .and.not.contain('one')
      expect(await slugsIn({ folder: '', recursive: true }, path)).to.include.members([
        'root',
        'one',
        'two',
        'three',
      ])
      expect(await slugsIn({ folder: 'nowhere', recursive: true }, path)).to.deep.equal([])
      const inQuery = await service.post(`${path}?folder=desk&recursive=true`)
      expect(inQuery.body.count).to.equal(2)
    }
    const page = { limit: 1, count_total: true }
    const first = await service.post('/applications/query', {
      application: { folder: 'desk', recursive: true },
      windowing: page,
    })
    expect([first.body.count, first.body.total]).to.deep.equal([1, 2])
    expect(await folders('desk')).to.deep.equal([
      { path: 'Desk', artifacts: 1, recursive: 2 },
      { path: 'Desk/tier-1', artifacts: 1, recursive: 1 },
      { path: 'desk-2', artifacts: 1, recursive: 1 },
    ])
  })

  // interface 18.3
  it('filter a search, of one folder or of all below it, page by page', async () => {
    for (const [slug, folder] of [
      ['s-root', ''],
      ['s-in', 'Find/me'],
      ['s-below', 'find/me/deep'],
      ['s-beside', 'find/me2'],
    ] as const)
      await service.post('/simple/applications/', {
        application: { slug, folder, data: { parameters: { text: 'needle' } } },
      })
    const found = async (filter: object): Promise<string[]> => {
      const slugs: string[] = []
      for (let next: string | undefined, isFirst = true; isFirst || next; isFirst = false) {
        const reply = await service.post('/search', {
          query: 'needle',
          windowing: { limit: 1, next },
          ...filter,
        })
        expect(reply.status, reply.text).to.equal(200)
        slugs.push(...reply.body.hits.map(({ artifact }: any) => artifact.slug))
        next = reply.body.windowing?.next
      }
      return slugs.sort()
    }
    expect(await found({})).to.deep.equal(['s-below', 's-beside', 's-in', 's-root'])
    expect(await found({ folder: 'find/ME' })).to.deep.equal(['s-in'])
    expect(await found({ folder: 'find/me', recursive: true })).to.deep.equal(['s-below', 's-in'])
    expect(await found({ folder: '' })).to.deep.equal(['s-root'])
    expect(await found({ folder: 'none', recursive: true })).to.deep.equal([])
    const refused = await service.post('/search', { query: 'needle', folder: 'a//b' })
    expect([refused.status, refused.body.errors[0].loc]).to.deep.equal([422, ['body', 'folder']])
  })

  // interface 18.4
  it('are listed in the order of a tree, with the spelling that came first, without archived artifacts', async () => {
    await create('a', 'team a/x')
    await create('b', 'TEAM A/X/y', 'testset')
    const { id } = await create('c', 'team')
    await create('d', 'team b', 'query')
    await service.post(`/applications/${id}/archive`)
    const live = [
      { path: 'team a', artifacts: 0, recursive: 2 },
      { path: 'team a/x', artifacts: 1, recursive: 2 },
      { path: 'team a/x/y', artifacts: 1, recursive: 1 },
      { path: 'team b', artifacts: 1, recursive: 1 },
    ]
    expect(await folders('team')).to.deep.equal(live)
    expect(await folders('team', '?include_archived=true')).to.deep.equal([
      { path: 'team', artifacts: 1, recursive: 1 },
      ...live,
    ])
    expect((await service.get('/folders?include_archived=yes')).status).to.equal(422)
  })

  describe('moving one', () => {
    // interface 18.5
    it('moves all below it, each by its own write, and says what failed; again moves the rest', async () => {
      const testset = await create('rows', 'help/tier-1', 'testset')
      const bot = await create('helper', 'help')
      const other = await create('other', 'helpers')
      const kept = await create('kept', 'help/old/x', 'evaluator')
      await service.post(`/evaluators/${kept.id}/archive`)
      const { status, body, text } = await move('Help', 'customers')
      expect(status, text).to.equal(200)
      expect(body.count).to.equal(2)
      expect(new Set(body.moved.map((it: object) => JSON.stringify(it)))).to.deep.equal(
        new Set(
          [
            { kind: 'application', id: bot.id, slug: 'helper', folder: 'customers' },
            { kind: 'testset', id: testset.id, slug: 'rows', folder: 'customers/tier-1' },
          ].map((it) => JSON.stringify(it)),
        ),
      )
      expect(body.failed).to.deep.equal([
        { kind: 'evaluator', id: kept.id, slug: 'kept', folder: 'help/old/x', code: 'archived' },
      ])
      expect((await service.get(`/applications/${other.id}`)).body.application.folder).to.equal('helpers')
      await service.post(`/evaluators/${kept.id}/unarchive`)
      expect((await move('help', 'customers')).body.moved).to.have.length(1)
      const again = await move('help', 'customers')
      expect([again.status, again.body.code]).to.deep.equal([404, 'folder_not_found'])
    })

    // interface 18.5
    it('leads to the root, into a folder that exists, and to another spelling', async () => {
      await create('m-a', 'uno/due')
      await create('m-b', 'Three')
      await move('uno/due', 'three')
      expect(await slugsIn({ folder: 'three' })).to.deep.equal(['m-a', 'm-b'])
      expect(await folders('three')).to.deep.equal([{ path: 'Three', artifacts: 2, recursive: 2 }])
      expect((await move('three', 'THREE')).body.moved).to.have.length(2)
      expect(await folders('three')).to.deep.equal([{ path: 'THREE', artifacts: 2, recursive: 2 }])
      expect((await move('three', '')).body.moved.map(({ folder }: any) => folder)).to.deep.equal(['', ''])
      expect(await folders('three')).to.deep.equal([])
    })

    // interface 18.5
    it('is refused as a whole where it cannot be: into itself, of the root, too deep', async () => {
      await create('d-a', 'one/2/3/4/5/6/7/8')
      for (const [from, to, field] of [
        ['one', 'one/x', 'to'],
        ['', 'x', 'from'],
        ['one', 'x/y', 'to'],
      ] as const) {
        const refused = await move(from, to)
        expect([refused.status, refused.body.errors[0].type], `${from} ${to}`).to.deep.equal([
          422,
          'invalid_folder',
        ])
        expect(refused.body.errors[0].loc).to.deep.equal(['body', field])
      }
      expect((await service.get('/applications/d-a')).body.application.folder).to.equal('one/2/3/4/5/6/7/8')
      expect((await service.post('/folders/move', { from: 'a' })).status).to.equal(422)
      expect((await service.post('/folders/move', { from: 'a', to: 'b', into: 'c' })).status).to.equal(422)
    })

    // interface 2.25, 18.5
    it('is answered again under the same Idempotency-Key', async () => {
      await create('k-a', 'ein')
      const key = { 'idempotency-key': randomUUID() }
      const first = await move('ein', 'zwei', key)
      expect(first.status, first.text).to.equal(200)
      const again = await move('ein', 'zwei', key)
      expect([again.status, again.text]).to.deep.equal([200, first.text])
    })

    // interface 18.5
    it('while a list is read, page by page, leaves no artifact out', async () => {
      await Promise.all(Array.from({ length: 40 }, (_, at) => create(`many-${at}`, `many/${at % 4}`)))
      const moving = move('many', 'more')
      const seen = new Set<string>()
      for (let next: string | undefined, more = true; more;) {
        const { body } = await service.post('/applications/query', {
          application: { folder: '', recursive: true },
          windowing: { limit: 25, order: 'ascending', next },
        })
        for (const { slug } of body.applications) if (slug.startsWith('many-')) seen.add(slug)
        next = body.windowing?.next
        more = next !== undefined
      }
      expect((await moving).body.moved).to.have.length(40)
      expect(seen.size).to.equal(40)
    })
  })

  // interface 8.16, 18.1
  it('may be sent with an upload', async () => {
    const form = new FormData()
    form.set('file', new Blob(['a\n1\n']), 'rows.csv')
    form.set('testset_slug', 'sent')
    form.set('testset_folder', 'data')
    const reply = await service.call('POST', '/simple/testsets/upload', form)
    expect(reply.status, reply.text).to.equal(200)
    expect(reply.body.testset.folder).to.equal('data')
    const again = new FormData()
    again.set('file', new Blob(['a\n2\n']), 'rows.csv')
    again.set('testset_folder', 'data/old')
    const put = await service.call('POST', '/simple/testsets/sent/upload', again)
    expect(put.body.testset.folder).to.equal('data/old')
  })
})

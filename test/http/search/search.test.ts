import { execFile } from 'node:child_process'
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect } from 'chai'
import Database from 'libsql'
import { git } from '../../support/git/git-program.ts'
import { ADMIN_KEY, type RunningService, startService } from '../../support/servers/service.ts'

const PROGRAM = fileURLToPath(new URL('../../../src/cli/main.js', import.meta.url))

describe('POST /search', () => {
  let service: RunningService
  before(async () => {
    service = await startService()
    await create('applications', {
      slug: 'capitals',
      name: 'Capital quiz',
      description: 'Asks for cities',
      tags: { team: 'support' },
      data: prompt('You answer with the capital of France, Paris.'),
    })
    await create('applications', { slug: 'wetter', data: prompt('東京都の天気を教えてください') })
    await create('evaluators', { slug: 'strict', data: { parameters: { note: 'Capital letters only' } } })
    await create('testsets', {
      slug: 'rows',
      name: 'Capital rows',
      data: { testcases: [{ data: { q: 'secret' } }] },
    })
  })
  after(() => service.stop())

  const prompt = (content: string) => ({
    parameters: { prompt: { messages: [{ role: 'system', content }] } },
  })
  const create = async (surface: string, record: object) => {
    const singular = surface.slice(0, -1)
    const { status, body, text } = await service.post(`/simple/${surface}/`, { [singular]: record })
    expect(status, text).to.equal(200)
    return body[singular]
  }
  const commit = async (slug: string, content: string, message: string) => {
    const sent = { application_ref: { slug }, message, data: prompt(content) }
    const { status, text } = await service.post('/applications/revisions/commit', {
      application_revision_commit: sent,
    })
    expect(status, text).to.equal(200)
  }
  const search = async (query: string, options: object = {}) => {
    const { status, text, body } = await service.post('/search', { query, ...options })
    expect(status, text).to.equal(200)
    expect(body.count).to.equal(body.hits.length)
    return body.hits
  }
  const slugs = async (query: string, options: object = {}): Promise<string[]> =>
    (await search(query, options)).map((hit: { artifact: { slug: string } }) => hit.artifact.slug)

  // interface 13.1, 13.2
  it('finds what was just written, by name, description, tag, message and data, and marks it', async () => {
    await commit('capitals', 'Name the capital of {{country}}.', 'Rolled back the polite greeting')
    for (const [query, field, place, marked] of [
      ['quiz', 'name', undefined, ['quiz']],
      ['cities', 'description', undefined, ['cities']],
      ['support', 'tags', { header: '/tags/team' }, ['support']],
      ['greeting rolled', 'message', undefined, ['Rolled', 'greeting']],
      ['"capital of" country', 'data', '/parameters/prompt/messages/0/content', ['capital of', 'country']],
    ] as const) {
      const [hit, ...more] = await search(query)
      expect(more, query).to.deep.equal([])
      const { kind, artifact, variant, revision, excerpt, ranges, rank } = hit
      expect([kind, artifact.slug, artifact.name, variant.slug], query).to.deep.equal([
        'application',
        'capitals',
        'Capital quiz',
        'capitals',
      ])
      expect([revision.slug, revision.version, hit.field, hit.place], query).to.deep.equal([
        'capitals-2',
        2,
        field,
        place,
      ])
      expect(
        ranges.map(([from, to]: [number, number]) => excerpt.slice(from, to)),
        query,
      ).to.deep.equal(marked)
      expect(rank).to.be.greaterThan(0)
    }
  })

  it('finds words in any case, with or without accents, and in scripts without spaces', async () => {
    expect(await slugs('CAPITÁL quiz')).to.deep.equal(['capitals'])
    expect(await slugs('天気')).to.deep.equal(['wetter'])
    expect(await slugs('東京都の天気')).to.deep.equal(['wetter'])
    expect(await slugs('京')).to.deep.equal(['wetter'])
    expect(await slugs('気天')).to.deep.equal([])
    expect(await slugs('coun*')).to.deep.equal(['capitals'])
    expect(await slugs('capital -quiz')).to.have.members(['strict', 'rows'])
  })

  it('narrows by kind, and shows older revisions and what is archived only where asked', async () => {
    expect(await slugs('capital')).to.have.members(['capitals', 'strict', 'rows'])
    expect(await slugs('capital', { kinds: ['evaluator'] })).to.deep.equal(['strict'])
    expect(await slugs('capital', { kinds: ['application', 'testset'] })).to.have.members([
      'capitals',
      'rows',
    ])
    const [workflow] = await search('capital', { kinds: ['workflow'] })
    expect(workflow.kind).to.equal('workflow')
    expect(await slugs('France')).to.deep.equal([])
    const [older] = await search('France', { include_history: true })
    expect(older.revision.version).to.equal(1)
    const { id } = await create('applications', { slug: 'old', data: prompt('An obsolete thing') })
    await service.post(`/simple/applications/${id}/archive`)
    expect(await slugs('obsolete')).to.deep.equal([])
    const [found, ...others] = await search('obsolete', { include_archived: true })
    expect([found.artifact.slug, found.archived, others]).to.deep.equal(['old', 'artifact', []])
    await service.post(`/simple/applications/${id}/unarchive`)
    const [back] = await search('obsolete', { include_archived: true })
    expect(back.archived).to.equal(undefined)
    await service.post(`/applications/variants/${back.variant.id}/archive`)
    expect((await search('obsolete', { include_archived: true }))[0].archived).to.equal('variant')
  })

  it('passes over revisions that are archived one by one: what is latest then is found in their place', async () => {
    const act = async (path: string) => {
      const { status, text } = await service.post(`/applications/revisions/${path}`)
      expect(status, text).to.equal(200)
    }
    const found = async (query: string, options: object = {}): Promise<number[]> =>
      (await search(query, options)).map((hit: any) => hit.revision?.version).sort()
    await create('applications', { slug: 'layers', data: prompt('granite') })
    await commit('layers', 'granite and basalt', 'Second')
    await commit('layers', 'granite and basalt and chalk', 'Third')
    expect([await found('granite'), await found('chalk')]).to.deep.equal([[3], [3]])
    await act('layers-3/archive')
    expect([await found('granite'), await found('chalk')]).to.deep.equal([[2], []])
    expect(await found('chalk', { include_history: true })).to.deep.equal([])
    expect(await found('granite', { include_history: true })).to.deep.equal([1, 2])
    expect(await found('granite', { include_archived: true })).to.deep.equal([2, 3])
    expect(await found('chalk', { include_archived: true, include_history: true })).to.deep.equal([3])
    // The text filter of a query is the same search.
    const queried = async (text: string): Promise<number> =>
      (await service.post('/applications/query', { application: { text } })).body.count
    expect([await queried('granite'), await queried('chalk')]).to.deep.equal([1, 0])
    await act('layers-2/archive')
    await act('layers-1/archive')
    expect(await found('granite')).to.deep.equal([])
    // Of the artifact itself there is its name.
    expect(await slugs('layers')).to.deep.equal(['layers'])
    // A new name is found under what is latest, and a start that makes the index anew finds the same.
    await act('layers-1/unarchive')
    const { body } = await service.post('/applications/query', { application: { slugs: ['layers'] } })
    const [{ id }] = body.applications
    expect(
      (await service.put(`/applications/${id}`, { application: { id, name: 'Strata' } })).status,
    ).to.equal(200)
    expect(await found('strata')).to.deep.equal([1])
    await commit('layers', 'granite and marl', 'Fourth')
    expect([await found('granite'), await found('chalk'), await found('marl')]).to.deep.equal([[4], [], [4]])
  })

  it('answers a hit whose word stands further on than it looks, and marks one that it can find', async () => {
    const long = (word: string): string => `${'é '.repeat(300_000)}${word}`
    await create('applications', { slug: 'far', data: prompt(long('zirconium')) })
    const [far] = await search('zirconium')
    expect(far).to.include({ field: 'data', place: '/parameters/prompt/messages/0/content' })
    expect([far.ranges, far.excerpt.startsWith('é é')]).to.deep.equal([[], true])
    await create('applications', { slug: 'plain', data: prompt(`${'lorem '.repeat(100_000)}zirconia`) })
    const [plain] = await search('zirconia')
    const [[from, to]] = plain.ranges
    expect(plain.excerpt.slice(from, to)).to.equal('zirconia')
  })

  it('finds an artifact without a revision, and a renamed one by its new name only', async () => {
    const { status, body } = await service.post('/workflows/', {
      workflow: { slug: 'empty', name: 'Hollow thing' },
    })
    expect(status).to.equal(200)
    const [hit] = await search('hollow')
    expect([hit.artifact.slug, hit.revision, hit.field]).to.deep.equal(['empty', undefined, 'name'])
    await service.put(`/workflows/${body.workflow.id}`, {
      workflow: { id: body.workflow.id, name: 'Solid thing' },
    })
    expect([await slugs('hollow'), await slugs('solid')]).to.deep.equal([[], ['empty']])
    // nor is the old one left in the index, where each answer would have to pass it over
    const index = new Database(join(service.storeDir, 'default/index.db'), { readonly: true })
    const rows = (word: string): number =>
      index.prepare('SELECT rowid FROM search WHERE search MATCH ?').all(word).length
    expect([rows('hollow'), rows('solid')]).to.deep.equal([0, 1])
    index.close()
  })

  it('sees what plain git commits, and forgets what is removed', async () => {
    const gitdir = join(service.storeDir, 'default/workflows/wetter.git')
    const ident = ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.com']
    const oid = git(gitdir, [...ident, 'commit-tree', '-p', 'wetter', '-m', 'Zebra by hand', 'wetter^{tree}'])
    git(gitdir, ['update-ref', 'refs/heads/wetter', oid])
    const deadline = Date.now() + 5000
    while ((await slugs('zebra')).length === 0) expect(Date.now()).to.be.lessThan(deadline)
    const { id } = await create('applications', { slug: 'doomed', data: prompt('A doomed word') })
    expect(await slugs('doomed word')).to.deep.equal(['doomed'])
    const authorization = `ApiKey ${ADMIN_KEY}`
    const address = `${service.url}/simple/applications/${id}`
    expect((await fetch(address, { method: 'DELETE', headers: { authorization } })).status).to.equal(200)
    expect(await slugs('doomed word')).to.deep.equal([])
  })

  it('pages through hits by the id of the last one', async () => {
    for (let number = 0; number < 7; number++)
      await create('applications', { slug: `page-${number}`, data: prompt(`Needle number ${number}`) })
    const all = await slugs('needle')
    expect(all).to.have.length(7)
    const paged: string[] = []
    for (let next: string | undefined, first = true; first || next !== undefined; first = false) {
      const { body } = await service.post('/search', { query: 'needle', windowing: { limit: 3, next } })
      paged.push(...body.hits.map((hit: { artifact: { slug: string } }) => hit.artifact.slug))
      next = body.windowing?.next
    }
    expect(paged).to.deep.equal(all)
  })

  // interface 13.1
  it('answers any text within a moment: it is no syntax', async () => {
    const texts = [
      'NEAR(',
      'a OR',
      '" "" "',
      'x'.repeat(10_000),
      '\u0000',
      '😀',
      "'; DROP TABLE search; --",
      'name:quiz',
      '^quiz',
      '{quiz}',
    ]
    for (const query of texts) {
      const began = performance.now()
      const { status } = await service.post('/search', { query })
      expect(status, query.slice(0, 30)).to.be.oneOf([200, 422])
      expect(performance.now() - began).to.be.lessThan(5000)
    }
  })

  for (const [what, body, code, says] of [
    ['an empty query', { query: ' ' }, 'empty_query', 'body.query has no word'],
    ['only exclusions', { query: '-quiz' }, 'empty_query', '"-word" only leaves out'],
    ['too many words', { query: 'a '.repeat(200) }, 'invalid_request', 'body.query: has more than 100 words'],
    [
      'too long a query',
      { query: 'a'.repeat(10_001) },
      'invalid_request',
      'body.query: must have at most 10000',
    ],
    ['no query', {}, 'invalid_request', 'body.query'],
    ['a kind that is none', { query: 'a', kinds: ['prompt'] }, 'invalid_request', 'body.kinds.0'],
    ['no kind', { query: 'a', kinds: [] }, 'invalid_request', 'body.kinds: must name at least one kind'],
    ['a field that nobody reads', { query: 'a', kind: ['query'] }, 'unknown_field', 'did you mean kinds?'],
    [
      'a limit of nothing',
      { query: 'a', windowing: { limit: 0 } },
      'invalid_request',
      'body.windowing.limit',
    ],
    ['a limit past any page', { query: 'a', windowing: { limit: 1001 } }, 'invalid_request', 'at most 1000'],
    [
      'a cursor that names nothing',
      { query: 'quiz', windowing: { next: '00000000-0000-4000-8000-000000000000' } },
      'invalid_request',
      'body.windowing.next',
    ],
  ] as const)
    // interface 13.2
    it(`refuses ${what}`, async () => {
      const answer = await service.post('/search', body)
      expect([answer.status, answer.body.code], answer.text).to.deep.equal([422, code])
      expect(answer.body.detail).to.include(says)
    })

  it('finds the same again once its index is removed or damaged under it', async () => {
    const before = await slugs('capital')
    const folder = join(service.storeDir, 'default')
    for (const name of readdirSync(folder)) if (name.startsWith('index.db')) rmSync(join(folder, name))
    expect(await slugs('capital')).to.deep.equal(before)
  })

  it('is a command, which prints what is found, and ends with 1 where nothing is', async () => {
    const env = { ...process.env, BRANCHPOINT_URL: service.url, BRANCHPOINT_KEY: ADMIN_KEY }
    const run = promisify(execFile)
    const { stdout } = await run(process.execPath, [PROGRAM, 'search', 'greeting', 'rolled'], { env })
    expect(stdout).to.equal(
      'application capitals capitals-2 (version 2): message\n    Rolled back the polite greeting\n',
    )
    const { stdout: json } = await run(
      process.execPath,
      [PROGRAM, 'search', 'quiz', '--jsonl', '--kind', 'application'],
      { env },
    )
    expect(JSON.parse(json).artifact.slug).to.equal('capitals')
    const none = await run(process.execPath, [PROGRAM, 'search', 'nothinglikethis'], { env }).catch(
      (error: { code?: number }) => error,
    )
    expect(none).to.include({ code: 1 })
  })
})

describe('POST /search of a store in memory', () => {
  it('finds what is there', async () => {
    const service = await startService({ env: { STORE_DIR: ':memory:' } })
    try {
      await service.post('/simple/applications/', {
        application: { slug: 'bot', name: 'Only in memory', data: {} },
      })
      const { body } = await service.post('/search', { query: 'memory' })
      expect(body.hits.map((hit: { artifact: { slug: string } }) => hit.artifact.slug)).to.deep.equal(['bot'])
    } finally {
      await service.stop()
    }
  })
})

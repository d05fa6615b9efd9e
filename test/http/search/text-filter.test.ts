import { expect } from 'chai'
import { type RunningService, startService } from '../../support/servers/service.ts'

describe('text in the filter of a query', () => {
  let service: RunningService
  before(async () => {
    service = await startService()
    await create('first', 'The zebra grazes.')
    await create('second', 'The giraffe grazes.')
    await commit({ application_ref: { slug: 'first' } }, 'The lion sleeps.')
    const { status, text } = await service.post('/applications/variants/fork', {
      application_variant: { slug: 'tame' },
      application_variant_ref: { slug: 'first' },
    })
    expect(status, text).to.equal(200)
    await commit({ application_variant_ref: { slug: 'tame' } }, 'The cat sleeps.')
    const made = await service.post('/workflows/', { workflow: { slug: 'hollow', name: 'Empty shell' } })
    const workflow_id = made.body.workflow.id
    await service.post('/workflows/variants/', { workflow_variant: { workflow_id, slug: 'hollow-one' } })
    await service.post('/simple/evaluators/', {
      evaluator: { slug: 'judge', data: { parameters: { note: 'A giraffe is tall' } } },
    })
  })
  after(() => service.stop())

  const data = (content: string) => ({
    parameters: { prompt: { messages: [{ role: 'system', content }] } },
  })
  const create = async (slug: string, content: string) => {
    const { status, text } = await service.post('/simple/applications/', {
      application: { slug, data: data(content) },
    })
    expect(status, text).to.equal(200)
  }
  const commit = async (ref: object, content: string) => {
    const { status, text } = await service.post('/applications/revisions/commit', {
      application_revision_commit: { ...ref, data: data(content) },
    })
    expect(status, text).to.equal(200)
  }
  const slugs = async (path: string, filter: object, beside: object = {}): Promise<string[]> => {
    const [surface = '', level = ''] = path.replace('simple/', '').split('/')
    const key = `${surface.slice(0, -1)}${level === '' ? '' : `_${level.slice(0, -1)}`}`
    const { status, text, body } = await service.post(`/${path}/query`, { [key]: filter, ...beside })
    expect(status, text).to.equal(200)
    return body[`${key}s`].map(({ slug }: { slug: string }) => slug)
  }

  for (const path of ['applications', 'simple/applications'])
    it(`leaves of ${path} those whose latest revisions have the words`, async () => {
      expect(await slugs(path, { text: 'graz*' })).to.deep.equal(['second'])
      expect(await slugs(path, { text: 'cat' })).to.deep.equal(['first'])
      expect(await slugs(path, { text: 'sleeps -cat' })).to.deep.equal(['first'])
      expect(await slugs(path, { text: '"zebra grazes"' })).to.deep.equal([])
      expect(await slugs(path, { text: 'giraffe', slug: 'first' })).to.deep.equal([])
    })

  it('is narrowed to the surface', async () => {
    expect(await slugs('workflows', { text: 'giraffe' })).to.deep.equal(['second', 'judge'])
    expect(await slugs('evaluators', { text: 'giraffe' })).to.deep.equal(['judge'])
    expect(await slugs('testsets', { text: 'giraffe' })).to.deep.equal([])
  })

  it('leaves the variants whose latest revision has the words, or whose artifact without one', async () => {
    expect(await slugs('applications/variants', { text: 'lion' })).to.deep.equal(['first'])
    expect(await slugs('applications/variants', { text: 'cat' })).to.deep.equal(['tame'])
    expect(await slugs('applications/variants', { text: 'zebra' })).to.deep.equal([])
    expect(await slugs('workflows/variants', { text: 'shell' })).to.deep.equal(['hollow-one'])
  })

  it('leaves every revision that has the words, also an older one', async () => {
    expect(await slugs('applications/revisions', { text: 'zebra' })).to.deep.equal(['first-1'])
    expect(await slugs('applications/revisions', { text: 'sleeps' })).to.deep.equal(['first-2', 'tame-3'])
    expect(await slugs('applications/revisions', { text: 'sleeps', slug: 'tame-3' })).to.deep.equal([
      'tame-3',
    ])
    const beside = { application_refs: [{ slug: 'second' }] }
    expect(await slugs('applications/revisions', { text: 'grazes' }, beside)).to.deep.equal(['second-1'])
    const { body } = await service.post('/applications/revisions/query?text=zebra', {})
    expect(body.count).to.equal(1)
  })

  it('pages through what it leaves, in the order of the list', async () => {
    const paged: string[] = []
    for (let next: string | undefined, first = true; first || next !== undefined; first = false) {
      const { body } = await service.post('/applications/revisions/query', {
        application_revision: { text: 'the' },
        windowing: { limit: 1, order: 'ascending', next },
      })
      paged.push(...body.application_revisions.map(({ slug }: { slug: string }) => slug))
      next = body.windowing?.next
    }
    expect(paged).to.have.members(['first-1', 'second-1', 'first-2', 'tame-3'])
    expect(paged).to.have.length(4)
  })

  it('finds what is archived only where asked', async () => {
    await service.post('/simple/applications/', { application: { slug: 'old', data: data('An okapi') } })
    const { body } = await service.post('/applications/query', { application: { slug: 'old' } })
    await service.post(`/applications/${body.applications[0].id}/archive`)
    const archived = { include_archived: true }
    for (const path of ['applications', 'applications/variants', 'applications/revisions']) {
      expect(await slugs(path, { text: 'okapi' }), path).to.deep.equal([])
      expect(await slugs(path, { text: 'okapi' }, archived), path).to.have.length(1)
    }
  })

  for (const [what, text, code] of [
    ['an empty text', ' ', 'empty_query'],
    ['only exclusions', '-zebra', 'empty_query'],
    ['too long a text', 'a'.repeat(10_001), 'invalid_request'],
    ['too many words', 'a '.repeat(101), 'invalid_request'],
  ] as const)
    it(`refuses ${what}, naming the field`, async () => {
      for (const [path, key] of [
        ['applications', 'application'],
        ['applications/variants', 'application_variant'],
        ['applications/revisions', 'application_revision'],
        ['simple/applications', 'application'],
      ] as const) {
        const answer = await service.post(`/${path}/query`, { [key]: { text } })
        expect([answer.status, answer.body.code], answer.text).to.deep.equal([422, code])
        expect(answer.body.detail).to.include(`body.${key}.text`)
      }
    })
})

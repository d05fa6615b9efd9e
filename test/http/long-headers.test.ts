import { expect } from 'chai'
import { type RunningService, startService } from '../support/servers/service.ts'
import { cloneOf } from '../support/git/git-client.ts'

const LONG = { notes: 'x'.repeat(300_000) }

describe('http: names, descriptions, tags and meta, which lists hold and add up', () => {
  let service: RunningService
  let ids: { artifact: string; variant: string }
  before(async () => {
    service = await startService()
    const { body } = await service.post('/simple/workflows/', { workflow: { slug: 'plain', data: {} } })
    ids = { artifact: body.workflow.id, variant: body.workflow.variant_id }
  })
  after(() => service.stop())

  const refused: readonly (readonly [string, () => Promise<{ status: number; body: { code: string } }>])[] = [
    ['a create', () => service.post('/workflows/', { workflow: { slug: 'long', meta: LONG } })],
    ['a simple create', () => service.post('/simple/workflows/', { workflow: { slug: 'long', meta: LONG } })],
    [
      'an edit',
      () => service.put(`/workflows/${ids.artifact}`, { workflow: { id: ids.artifact, meta: LONG } }),
    ],
    [
      'a commit',
      () =>
        service.post('/workflows/revisions/commit', {
          workflow_revision_commit: { workflow_variant_id: ids.variant, data: {}, meta: LONG },
        }),
    ],
    [
      'a variant',
      () =>
        service.post('/workflows/variants/', { workflow_variant: { workflow_id: ids.artifact, meta: LONG } }),
    ],
  ]
  for (const [what, write] of refused) {
    it(`${what} with more than 256 KiB of them is refused, and stores nothing`, async () => {
      const before = await service.post('/workflows/query', {})
      const { status, body } = await write()
      expect([status, body.code]).to.deep.equal([413, 'limit_exceeded'])
      expect((await service.post('/workflows/query', {})).text).to.equal(before.text)
    })
  }

  it('a push with more than that is refused by name', async () => {
    const clone = await cloneOf(service, 'plain')
    clone.write('revision.json', JSON.stringify({ meta: LONG }))
    await clone.commit('Long')
    const { code, terminal } = await clone.try('push')
    expect(code).to.not.equal(0)
    expect(terminal)
      .to.match(/payload refused/)
      .and.match(/262144/)
  })
})

import { expect } from 'chai'
import { type RunningService, startService } from '../../support/servers/service.ts'

describe('the variant that a revision is shown under, reached by its id alone', () => {
  let service: RunningService
  let number = 0
  before(async () => (service = await startService()))
  after(() => service.stop())

  const done = async (path: string, body: object = {}): Promise<any> => {
    const { status, text, body: answer } = await service.post(path, body)
    expect(status, text).to.equal(200)
    return answer
  }
  /** A prompt with a fork that both have version 1, and the slugs and ids of its variants. */
  async function forked() {
    const slug = `home${++number}`
    const { workflow } = await done('/simple/workflows/', {
      workflow: { slug, data: { parameters: { says: `otter${number}` } } },
    })
    const { workflow_variant: fork } = await done('/workflows/variants/fork', {
      workflow_variant: { slug: `${slug}-try` },
      workflow_variant_ref: { slug },
    })
    return { slug, fork: fork.slug, id: workflow.revision_id, own: workflow.variant_id, forkId: fork.id }
  }
  /** The variant that each way of reading shows the revision under. */
  async function shownUnder(slug: string, id: string): Promise<Record<string, string>> {
    const { body: byId } = await service.get(`/workflows/revisions/${id}`)
    const { workflow_revision: retrieved } = await done('/workflows/revisions/retrieve', {
      workflow_revision_ref: { id },
    })
    const { workflow_revisions: listed } = await done('/workflows/revisions/query', {
      workflow_revision_refs: [{ id }],
    })
    const { nodes } = await done('/workflows/graph', { workflow_ref: { slug } })
    return {
      get: byId.workflow_revision.variant_slug,
      retrieve: retrieved.variant_slug,
      query: listed[0]?.variant_slug,
      graph: nodes.find((node: any) => node.id === id).variant.slug,
    }
  }
  const all = (variant: string) => ({ get: variant, retrieve: variant, query: variant, graph: variant })

  // interface 4.29
  it('is the one that it was made on', async () => {
    const { slug, id } = await forked()
    expect(await shownUnder(slug, id)).to.deep.equal(all(slug))
  })

  // interface 4.29
  it('is the oldest live one that holds it, once that is archived', async () => {
    const { slug, fork, own, id } = await forked()
    await done(`/workflows/variants/${own}/archive`)
    expect(await shownUnder(slug, id)).to.deep.equal(all(fork))
    await done(`/workflows/variants/${own}/unarchive`)
    expect(await shownUnder(slug, id)).to.deep.equal(all(slug))
  })

  // interface 4.29
  it('is the oldest one, once all are archived', async () => {
    const { slug, own, forkId, id } = await forked()
    await done(`/workflows/variants/${own}/archive`)
    await done(`/workflows/variants/${forkId}/archive`)
    const { query, ...others } = await shownUnder(slug, id)
    expect(query).to.equal(undefined)
    expect(new Set(Object.values(others))).to.deep.equal(new Set([slug]))
  })

  it('a search finds it under the live variant', async () => {
    const { own, fork } = await forked()
    await done(`/workflows/variants/${own}/archive`)
    const { hits } = await done('/search', { query: `otter${number}`, kinds: ['workflow'] })
    expect(hits.map(({ variant }: any) => variant?.slug)).to.deep.equal([fork])
  })
})

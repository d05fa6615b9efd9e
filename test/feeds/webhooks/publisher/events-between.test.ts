import { expect } from 'chai'
import { workflowFamily } from '../../../../src/run/handlers/workflows.ts'
import { archiveArtifact } from '../../../../src/registry/artifacts/change-artifact.ts'
import type { ArtifactView } from '../../../../src/registry/artifacts/artifact-view.ts'
import { forkVariant } from '../../../../src/registry/variants/fork-variant.ts'
import { eventsBetween } from '../../../../src/feeds/webhooks/events-between.ts'
import { cursorOf, isPublished, type PublishCursor } from '../../../../src/feeds/webhooks/cursor-log.ts'
import { CONTEXT, type Shelf, openShelf } from '../../../registry/embeds/shelf.ts'

describe('events between what was told and what is', () => {
  let shelf: Shelf
  beforeEach(async () => (shelf = await openShelf()))

  const current = async (slug: string): Promise<ArtifactView> =>
    (await shelf.registry.index.findBySlug(workflowFamily, slug)) ?? expect.fail(slug)
  const typesOf = async (slug: string, before?: PublishCursor): Promise<string[]> =>
    (await eventsBetween(shelf.registry, await current(slug), before)).map(({ type }) => type)
  const fork = (slug: string) =>
    forkVariant(
      shelf.registry,
      workflowFamily,
      { artifact: { slug: 'bot' } },
      { slug, header: {}, loc: [] },
      CONTEXT,
    )

  it('a life within one second is told in its order, and what two branches share once', async () => {
    await shelf.put('bot', { parameters: { n: 1 } }, { parameters: { n: 2 } })
    await fork('bot_fork')
    await archiveArtifact(shelf.registry, await current('bot'), 'archive', CONTEXT)
    expect(await typesOf('bot')).to.deep.equal([
      'artifact.created',
      'variant.created',
      'revision.committed',
      'revision.committed',
      'variant.forked',
      'artifact.archived',
    ])
  })

  it('worked out again they have the same ids, whatever was told in between', async () => {
    await shelf.put('bot', { parameters: { n: 1 } })
    const middle = cursorOf(await current('bot'), new Date())
    await shelf.commit(await current('bot'), { parameters: { n: 2 } })
    await fork('bot_fork')
    const view = await current('bot')
    const all = await eventsBetween(shelf.registry, view, undefined)
    expect(await eventsBetween(shelf.registry, view, undefined)).to.deep.equal(all)
    const rest = await eventsBetween(shelf.registry, view, middle)
    expect(rest.map(({ id }) => id)).to.deep.equal(all.slice(3).map(({ id }) => id))
    expect(new Set(all.map(({ id }) => id)).size).to.equal(5)
  })

  it('nothing is between a view and itself', async () => {
    await shelf.put('bot', { parameters: { n: 1 } })
    const told = cursorOf(await current('bot'), new Date())
    expect(isPublished(await current('bot'), told)).to.equal(true)
    expect(await typesOf('bot', told)).to.deep.equal([])
    await shelf.commit(await current('bot'), { parameters: { n: 1 } })
    expect(isPublished(await current('bot'), told)).to.equal(false)
    expect(await typesOf('bot', told)).to.deep.equal(['revision.committed'])
  })

  it('a branch, a chosen revision slug or a variant called __proto__ is like any other', async () => {
    await shelf.put('__proto__', { parameters: { n: 1 } })
    const told = cursorOf(await current('__proto__'), new Date())
    await shelf.commit(await current('__proto__'), { parameters: { n: 2 } }, 'constructor')
    const [event, ...others] = await eventsBetween(shelf.registry, await current('__proto__'), told)
    expect(others).to.deep.equal([])
    expect(event?.data).to.have.nested.property('references.workflow_revision.slug', 'constructor')
  })
})

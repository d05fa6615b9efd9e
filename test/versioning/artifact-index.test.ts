import { expect } from 'chai'
import { memoryFs } from '../../src/git/memory-fs.ts'
import { Store } from '../../src/git/store.ts'
import { workflowFamily } from '../../src/resources/workflows/workflow-family.ts'
import { createArtifact } from '../../src/versioning/create-artifact.ts'
import { Registry } from '../../src/versioning/registry.ts'

const context = { actor: { id: 'id', name: 'Ann', email: 'ann@example.com' } }

describe('versioning: the index of artifacts', () => {
  let registry: Registry

  beforeEach(async () => {
    const store = await Store.open(memoryFs(), '/store')
    const settings = { servicesBase: 'http://localhost/services', now: () => new Date() }
    registry = new Registry(await store.project('default'), [workflowFamily], settings)
    await registry.index.load()
  })

  const create = (slug: string) =>
    createArtifact(registry, workflowFamily, { slug, header: {}, withVariant: {}, loc: [] }, context)

  it('keeps an artifact that was made while a sweep was under way', async () => {
    // So many that the sweep lets other work have its turn.
    for (let number = 0; number < 150; number++) await create(`bot.${number}`)
    const sweeping = registry.index.sweep()
    await create('late')
    await sweeping
    expect(await registry.index.isTaken('artifact', workflowFamily, 'LATE')).to.equal(true)
    const slugs = (await registry.index.list(workflowFamily)).map(({ slug }) => slug)
    expect(slugs).to.have.length(151)
    expect(slugs.at(-1)).to.equal('late')
  })

  it('forgets an artifact whose repository was removed', async () => {
    const { repository } = await create('gone')
    await create('kept')
    registry.store.fs.removeTree(repository.path)
    await registry.index.sweep()
    expect((await registry.index.list(workflowFamily)).map(({ slug }) => slug)).to.deep.equal(['kept'])
    expect(await registry.index.isTaken('variant', workflowFamily, 'gone')).to.equal(false)
  })
})

import { expect } from 'chai'
import { lutimesSync, renameSync, symlinkSync, utimesSync } from 'node:fs'
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import { git, temporaryFolder } from '../../support/git/git-program.ts'
import { Store } from '../../../src/git/store/store.ts'
import { workflowFamily } from '../../../src/run/handlers/workflows.ts'
import { memoryFs } from '../../../src/storage/memory-fs.ts'
import { nodeFs } from '../../../src/storage/files/node-fs.ts'
import { createArtifact } from '../../../src/registry/artifacts/create-artifact.ts'
import { createVariant } from '../../../src/registry/variants/create-variant.ts'
import { objectUuid } from '../../../src/registry/store/ids.ts'
import { Registry } from '../../../src/registry/store/registry.ts'
import { revisionById } from '../../../src/registry/revisions/references.ts'
import { context, memoryRegistry, newVariant } from '../memory-registry.ts'

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
    const slugs = [...(await registry.index.list(workflowFamily))].map(({ slug }) => slug)
    expect(slugs).to.have.length(151)
    expect(slugs.at(-1)).to.equal('late')
  })

  it('forgets an artifact whose repository was removed', async () => {
    const { repository } = await create('gone')
    await create('kept')
    registry.store.fs.removeTree(repository.path)
    await registry.index.sweep()
    expect([...(await registry.index.list(workflowFamily))].map(({ slug }) => slug)).to.deep.equal(['kept'])
    expect(await registry.index.isTaken('variant', workflowFamily, 'gone')).to.equal(false)
  })

  it('has the variants of an artifact in order of creation, and those of one moment in order of their slugs', async () => {
    let now = Date.parse('2026-03-01T12:00:00Z')
    const slow = await memoryRegistry(memoryFs(), () => new Date(now))
    const { artifact } = await newVariant(slow, workflowFamily, 'm')
    for (const slugs of [['z', 'k'], ['a'], ['y']]) {
      now += 60_000
      for (const slug of slugs) await createVariant(slow, artifact, { slug, header: {}, loc: [] }, context)
    }
    const view = await slow.index.findBySlug(workflowFamily, 'm')
    expect(view?.variants.map(({ slug }) => slug)).to.deep.equal(['m', 'k', 'z', 'a', 'y'])
  })

  it('tells of a damaged repository no more once that is removed', async () => {
    const { repository } = await create('bad')
    await create('kept')
    const { fs } = registry.store
    fs.rename(`${repository.path}/objects`, `${repository.path}/away`)
    const reader = new Registry(registry.store, [workflowFamily], {
      servicesBase: 'http://localhost/services',
      now: () => new Date(),
    })
    await reader.index.load()
    const told = (): string[] => reader.index.problems().map(({ repository: path }) => path)
    expect(told()).to.deep.equal(['workflows/bad'])
    fs.removeTree(repository.path)
    await reader.index.sweep(workflowFamily)
    expect(told()).to.deep.equal([])
    expect(await reader.index.findBySlug(workflowFamily, 'bad')).to.equal(undefined)
  })

  it('lists in order of creation whatever came, went and was edited meanwhile', async () => {
    const slugs = async (): Promise<string[]> =>
      [...(await registry.index.list(workflowFamily))].map(({ slug }) => slug)
    for (const slug of ['b', 'a', 'c']) await create(slug)
    expect(await slugs()).to.deep.equal(['b', 'a', 'c'])
    const before = await registry.index.list(workflowFamily)
    expect(await registry.index.list(workflowFamily)).to.equal(before)
    const gone = [...before].find(({ slug }) => slug === 'a')
    registry.store.fs.removeTree(gone?.repository.path ?? '')
    await registry.index.sweep(workflowFamily)
    await create('d')
    expect(await slugs()).to.deep.equal(['b', 'c', 'd'])
    expect(before).to.have.length(3)
  })

  it('means by a slug that two artifacts have the one that was seen with it first, while that has it', async () => {
    const [one, two] = [await create('one'), await create('two')]
    const { fs } = registry.store
    // As a fetch would: both have a branch of this name.
    for (const { repository, defaultVariant } of [two, one]) {
      fs.makeDir(`${repository.path}/refs/heads`)
      const head = [...repository.refs.shared().refs.values()][0] ?? ''
      expect(defaultVariant?.head).to.equal(undefined)
      fs.create(`${repository.path}/refs/heads/shared`, Buffer.from(`${head}\n`))
      await registry.index.sweep()
      await pause(2)
    }
    const owner = async (): Promise<string | undefined> =>
      (await registry.index.oldestClaim(workflowFamily, [['variant', 'shared']]))?.artifact.slug
    expect(await owner()).to.equal('two')
    const alike = registry.index.alike('variant', workflowFamily, 'Shared')
    expect(alike.map(({ entry }) => entry.slug)).to.deep.equal(['two', 'one'])
    fs.remove(`${two.repository.path}/refs/heads/shared`)
    await nextTurn()
    expect(await owner()).to.equal('one')
    expect(await registry.index.isTaken('variant', workflowFamily, 'Shared')).to.equal(true)
    fs.removeTree(one.repository.path)
    await registry.index.sweep()
    expect(await registry.index.isTaken('variant', workflowFamily, 'shared')).to.equal(false)
  })

  it('looks at one repository for a slug, however many artifacts have it', async () => {
    const fs = memoryFs()
    let looks = 0
    const stat: typeof fs.stat = (path) => {
      looks++
      return fs.stat(path)
    }
    const store = await Store.open({ ...fs, stat }, '/store')
    const settings = { servicesBase: 'http://localhost/services', now: () => new Date() }
    const many = new Registry(await store.project('default'), [workflowFamily], settings)
    await many.index.load()
    const looksFor = async (): Promise<number> => {
      await nextTurn()
      looks = 0
      const found = await many.index.oldestClaim(workflowFamily, [['variant', 'dev']])
      expect(found?.artifact.slug).to.equal('bot.0')
      return looks
    }
    const made = async (number: number): Promise<void> => {
      const input = { slug: `bot.${number}`, header: {}, withVariant: {}, loc: [] }
      const artifact = await createArtifact(many, workflowFamily, input, context)
      await createVariant(many, artifact, { slug: 'dev', header: {}, loc: [] }, context)
    }
    await made(0)
    await looksFor()
    const ofOne = await looksFor()
    for (let number = 1; number < 100; number++) await made(number)
    expect(await looksFor()).to.be.at.most(ofOne)
  })

  it('lists a folder that is quiet once, and still sees what comes and goes in it', async () => {
    const folder = temporaryFolder()
    const listed: string[] = []
    const readDir = (path: string): string[] | undefined => {
      listed.push(path)
      return nodeFs.readDir(path)
    }
    const store = await Store.open({ ...nodeFs, readDir }, folder)
    const settings = { servicesBase: 'http://localhost/services', now: () => new Date() }
    registry = new Registry(await store.project('default'), [workflowFamily], settings)
    await create('one')
    const { repository } = await create('two')
    const workflows = `${folder}/default/workflows`
    const sweep = async (): Promise<string[]> => {
      await registry.index.sweep()
      return [...(await registry.index.list(workflowFamily))].map(({ slug }) => slug)
    }
    utimesSync(workflows, 1_700_000_000, 1_700_000_000)
    expect(await sweep()).to.deep.equal(['one', 'two'])
    listed.length = 0
    expect(await sweep()).to.deep.equal(['one', 'two'])
    expect(listed).to.deep.equal([])
    renameSync(repository.path, `${folder}/aside`)
    expect(await sweep()).to.deep.equal(['one'])
    utimesSync(workflows, 1_700_000_001, 1_700_000_001)
    expect(await sweep()).to.deep.equal(['one'])
    renameSync(`${folder}/aside`, `${workflows}/three.git`)
    expect(await sweep()).to.deep.equal(['one', 'three'])
    await store.close()
  })

  it('finds a revision by id that came after a look of the same turn', async () => {
    const store = await Store.open(nodeFs, temporaryFolder())
    const settings = { servicesBase: 'http://localhost/services', now: () => new Date() }
    registry = new Registry(await store.project('default'), [workflowFamily], settings)
    const { digits, repository } = await create('bot')
    const tree = git(repository.path, ['hash-object', '-t', 'tree', '-w', '--stdin'], '')
    const commitOn = (...parents: string[]): string =>
      git(repository.path, ['commit-tree', tree, '-m', 'x', ...parents.flatMap((it) => ['-p', it])])
    const first = commitOn()
    const second = commitOn(first)
    git(repository.path, ['update-ref', 'refs/heads/bot', first])
    await nextTurn()
    expect((await registry.index.findByDigits(digits))?.variants[0]?.head).to.equal(first)
    // Nothing from here on waits for the event loop: another server is quicker than our turn.
    git(repository.path, ['update-ref', 'refs/heads/bot', second])
    expect(repository.refs.shared().refs.get('refs/heads/bot')).to.equal(first)
    const place = await revisionById(registry, workflowFamily, objectUuid(second, digits))
    expect(place).to.include({ oid: second, version: 2 })
    await store.close()
  })

  it('sees what comes into a folder that lies elsewhere, behind a link', async () => {
    const [folder, elsewhere] = [temporaryFolder(), temporaryFolder()]
    const workflows = `${folder}/default/workflows`
    nodeFs.makeDir(`${folder}/default`)
    symlinkSync(elsewhere, workflows)
    lutimesSync(workflows, 1_700_000_000, 1_700_000_000)
    const store = await Store.open(nodeFs, folder)
    const settings = { servicesBase: 'http://localhost/services', now: () => new Date() }
    registry = new Registry(await store.project('default'), [workflowFamily], settings)
    const { repository } = await create('one')
    renameSync(repository.path, `${folder}/aside`)
    await registry.index.sweep()
    expect(await registry.index.list(workflowFamily)).to.have.length(0)
    renameSync(`${folder}/aside`, `${workflows}/two.git`)
    await registry.index.sweep()
    expect([...(await registry.index.list(workflowFamily))].map(({ slug }) => slug)).to.deep.equal(['two'])
    await store.close()
  })
})

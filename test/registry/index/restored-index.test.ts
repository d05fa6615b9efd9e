import { expect } from 'chai'
import { renameSync, rmSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { git, temporaryFolder } from '../../support/git/git-program.ts'
import { Store } from '../../../src/git/store/store.ts'
import { workflowFamily } from '../../../src/run/handlers/workflows.ts'
import { parseJson } from '../../../src/base/json/parse-json.ts'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { stringifyJson } from '../../../src/base/json/stringify-json.ts'
import { nodeFs } from '../../../src/storage/files/node-fs.ts'
import { DatabaseFile } from '../../../src/storage/sqlite/database-file.ts'
import type { ArtifactView } from '../../../src/registry/artifacts/artifact-view.ts'
import { createArtifact } from '../../../src/registry/artifacts/create-artifact.ts'
import { openRegistry } from '../../../src/registry/store/open-registry.ts'
import { Registry } from '../../../src/registry/store/registry.ts'
import { environmentFamily } from '../../../src/registry/families/environment-surface.ts'
import { commitRevision } from '../../../src/registry/revisions/commit-revision.ts'
import { createVariant } from '../../../src/registry/variants/create-variant.ts'
import { verifyIndex } from '../../../src/registry/verify/verify-index.ts'
import { context, newVariant } from '../memory-registry.ts'
import { listed } from './database/listed.ts'

/** Stamps younger than this are not relied on; see RefReader. */
const SETTLED = 40

const SETTINGS = { servicesBase: 'http://localhost/services', now: () => new Date() }

describe('versioning: an index that begins with what a process of before saw', () => {
  let folder: string
  let before: Registry

  const opened = async (): Promise<Registry> => {
    const project = await (await Store.open(nodeFs, folder)).project('default')
    return new Registry(project, [workflowFamily], SETTINGS)
  }
  const restored = async (): Promise<Registry> => {
    const registry = await opened()
    registry.index.restore()
    return registry
  }
  const gitdir = (slug: string): string => `${folder}/default/workflows/${slug}.git`
  const ended = async (): Promise<void> => {
    await pause(SETTLED)
    await before.index.close()
  }
  const slugs = async ({ index }: Registry): Promise<string[]> =>
    [...(await index.list(workflowFamily))].map(({ slug }) => slug)

  beforeEach(async () => {
    folder = temporaryFolder()
    before = await opened()
    await before.index.load()
  })

  it('has every artifact as a look into its repository shows it', async () => {
    const meta = parseJson('{"b": 1.10, "a": 90071992547409931, "__proto__": {"1": [0.1e3]}}') as JsonObject
    const header = { name: 'Größe', flags: { is_application: true }, tags: { team: 'a' }, meta }
    await createArtifact(before, workflowFamily, { slug: 'odd', header, withVariant: {}, loc: [] }, context)
    const place = await newVariant(before, workflowFamily, 'bot')
    const data: JsonObject = { parameters: {} }
    const revision = { data, message: 'One', header: {}, loc: [], slug: 'first' }
    await commitRevision(before, place, revision, context)
    const run = (...args: string[]): string => git(gitdir('bot'), args)
    run('branch', 'pushed', 'bot')
    run('tag', '-a', '-m', 'Annotated', 'noted', 'bot')
    run('symbolic-ref', 'HEAD', 'refs/heads/pushed')
    await newVariant(before, workflowFamily, 'packed')
    git(gitdir('packed'), ['pack-refs', '--all'])
    await before.index.sweep()
    await ended()
    const next = await restored()
    expect(next.index.size).to.equal(3)
    const rebuilt = await opened()
    await rebuilt.index.load()
    for (const slug of ['odd', 'bot', 'packed']) {
      // Since when branches and tags are there that git made stands nowhere else until a server has recorded it.
      expect(datesOf(next, slug), slug).to.deep.equal(datesOf(before, slug))
      const one = next.index.viewAt(`workflows/${slug}`)
      const other = await rebuilt.index.findBySlug(workflowFamily, slug)
      expect(one && shape(one), slug).to.deep.equal(other && shape(other))
    }
    expect(await verifyIndex(next, rebuilt)).to.deep.equal([])
  })

  it('has the variants of an artifact in order of their creation', async () => {
    const { artifact } = await newVariant(before, workflowFamily, 'm')
    for (const slug of ['z', 'k', 'a', 'y']) {
      await createVariant(before, artifact, { slug, header: {}, loc: [] }, context)
      // the next one is of a later millisecond
      await pause(2)
    }
    await before.index.refresh([workflowFamily])
    await ended()
    const view = (await restored()).index.viewAt('workflows/m')
    expect(view?.variants.map(({ slug }) => slug)).to.deep.equal(['m', 'z', 'k', 'a', 'y'])
  })

  it('reads nothing of a repository that is as it was', async () => {
    const { id } = (await newVariant(before, workflowFamily, 'bot')).artifact
    await before.index.refresh([workflowFamily])
    await ended()
    const next = await restored()
    // No file is opened: neither is there any that could be read.
    const { fs } = next.store
    for (const call of ['readFile', 'open', 'readDir'] as const)
      Object.assign(fs, { [call]: () => expect.fail(`${call} was called`) })
    expect((await next.index.findBySlug(workflowFamily, 'bot'))?.id).to.equal(id)
  })

  it('looks once at a repository whose packs were put together, and saves it anew', async () => {
    await newVariant(before, workflowFamily, 'bot')
    await before.index.refresh([workflowFamily])
    await ended()
    git(gitdir('bot'), ['repack', '-a', '-d', '-q'])
    before = await restored()
    await before.index.refresh([workflowFamily])
    await ended()
    const next = await restored()
    Object.assign(next.store.fs, { readDir: () => expect.fail('a folder was read') })
    expect((await next.index.findBySlug(workflowFamily, 'bot'))?.slug).to.equal('bot')
  })

  it('sees what plain git did meanwhile: at once where it is named, and in the first list', async () => {
    for (const slug of ['bot', 'tagged', 'gone', 'moved']) {
      const place = await newVariant(before, workflowFamily, slug)
      const data: JsonObject = { parameters: { slug } }
      await commitRevision(before, place, { data, message: 'One', header: {}, loc: [] }, context)
    }
    await ended()
    git(gitdir('bot'), ['branch', 'pushed', 'bot'])
    git(gitdir('tagged'), ['tag', 'later', 'tagged'])
    rmSync(gitdir('gone'), { recursive: true })
    renameSync(gitdir('moved'), gitdir('there'))
    const named = await restored()
    const bot = await named.index.findBySlug(workflowFamily, 'bot')
    expect(bot?.variants.map(({ slug }) => slug)).to.have.members(['bot', 'pushed'])
    expect(await named.index.findBySlug(workflowFamily, 'gone')).to.equal(undefined)
    expect((await named.index.findBySlug(workflowFamily, 'there'))?.slug).to.equal('there')
    const next = await restored()
    expect(await next.index.isTaken('variant', workflowFamily, 'pushed')).to.equal(true)
    expect(await next.index.isTaken('tag', workflowFamily, 'later')).to.equal(true)
    expect(await next.index.isTaken('artifact', workflowFamily, 'gone')).to.equal(false)
    expect(await slugs(next)).to.have.members(['bot', 'tagged', 'there'])
    const rebuilt = await opened()
    expect(await verifyIndex(next, rebuilt)).to.deep.equal([])
  })

  it('lists revisions of one family before anybody asked for another one', async () => {
    const place = await newVariant(before, workflowFamily, 'bot')
    await commitRevision(before, place, { data: {}, message: 'One', header: {}, loc: [] }, context)
    await ended()
    const project = await (await Store.open(nodeFs, folder)).project('default')
    const settings = { servicesBase: 'http://localhost/services', now: () => new Date() }
    const next = new Registry(project, [workflowFamily, environmentFamily], settings)
    next.index.restore()
    expect((await listed(next)).map(([, depth]) => depth)).to.deep.equal([1])
  })

  it('finds by id, or by a new name, what it did not know', async () => {
    await newVariant(before, workflowFamily, 'known')
    await ended()
    const writer = await opened()
    await writer.index.load()
    const { id } = (await newVariant(writer, workflowFamily, 'late')).artifact
    expect((await (await restored()).index.findByDigits(id))?.slug).to.equal('late')
    const found = await (await restored()).index.oldestClaim(workflowFamily, [['variant', 'late']])
    expect(found?.artifact.slug).to.equal('late')
  })

  it('serves nothing of a repository that was damaged meanwhile', async () => {
    await newVariant(before, workflowFamily, 'bot')
    await ended()
    renameSync(`${gitdir('bot')}/objects/pack`, `${gitdir('bot')}/objects/away`)
    const refused = await (
      await restored()
    ).index
      .findBySlug(workflowFamily, 'bot')
      .catch((error) => error.code)
    expect(refused).to.equal('damaged_repository')
    const next = await restored()
    expect(await slugs(next)).to.deep.equal([])
    expect(next.index.problems().map(({ repository }) => repository)).to.deep.equal(['workflows/bot'])
  })

  it('begins with nothing where the file is of another version, and fills it anew', async () => {
    await newVariant(before, workflowFamily, 'bot')
    await ended()
    const file = new DatabaseFile(`${folder}/default/index.db`, 50, () => undefined)
    file.run('PRAGMA user_version = 2')
    file.close()
    const next = await restored()
    expect(next.index.size).to.equal(0)
    expect(await slugs(next)).to.deep.equal(['bot'])
    await next.index.close()
    expect((await restored()).index.size).to.equal(1)
  })

  it('takes nothing over in which a bit has flipped, and survives what is no text any more', async () => {
    for (const slug of ['bot', 'odd', 'other']) await newVariant(before, workflowFamily, slug)
    await ended()
    const file = new DatabaseFile(`${folder}/default/index.db`, 50, () => undefined)
    file.run("UPDATE artifacts SET saved = replace(saved, 'refs', 'refz') WHERE slug = 'bot'")
    file.run("UPDATE artifacts SET slug = CAST(x'ff' AS TEXT), seen = slug, id = slug WHERE slug = 'odd'")
    file.run("UPDATE variants SET slug = CAST(x'ff' AS TEXT) WHERE slug = 'other'")
    file.close()
    const next = await restored()
    expect(next.index.size).to.equal(1)
    expect(await slugs(next)).to.have.members(['bot', 'odd', 'other'])
    await next.index.refresh([workflowFamily])
    expect((await listed(next)).length).to.equal(0)
    await next.index.close()
    expect((await restored()).index.size).to.equal(3)
  })

  it('has a start record what git made and a process of before only saw, with the dates of then', async () => {
    const place = await newVariant(before, workflowFamily, 'bot')
    const revision = { data: { parameters: {} }, message: 'One', header: {}, loc: [], slug: 'first' }
    await commitRevision(before, place, revision, context)
    await newVariant(before, workflowFamily, 'other')
    git(gitdir('bot'), ['branch', 'pushed', 'bot'])
    git(gitdir('bot'), ['tag', 'noted', 'bot'])
    await before.index.sweep()
    await ended()
    const metaOf = (slug: string): string => git(gitdir(slug), ['rev-parse', 'refs/meta/artifact'])
    const dates = datesOf(before, 'bot')
    const [other, seen] = [metaOf('other'), metaOf('bot')]
    expect((await restored()).index.unrecorded()).to.deep.equal([place.artifact.id])
    const started = await openRegistry((await opened()).store, [workflowFamily], SETTINGS)
    // It is done when the start is: nobody gets an entity tag that holds for a moment only.
    expect(git(gitdir('bot'), ['rev-parse', 'refs/meta/artifact^'])).to.equal(seen)
    expect(metaOf('other')).to.equal(other)
    expect(datesOf(started.registry, 'bot')).to.deep.equal({ ...dates, isUnrecorded: false })
    expect(started.registry.index.unrecorded()).to.deep.equal([])
    started.close()
    const recorded = metaOf('bot')
    rmSync(`${folder}/default/index.db`, { force: true })
    const rebuilt = await openRegistry((await opened()).store, [workflowFamily], SETTINGS)
    expect(datesOf(rebuilt.registry, 'bot')).to.deep.equal({ ...dates, isUnrecorded: false })
    expect(metaOf('bot')).to.equal(recorded)
    rebuilt.close()
  })

  it('saves an artifact that was written to a moment ago when that is over', async () => {
    await newVariant(before, workflowFamily, 'bot')
    // At once, so that the times of its folders could be those of another change.
    await before.index.refresh([workflowFamily])
    await ended()
    expect((await restored()).index.size).to.equal(1)
  })
})

function datesOf({ index }: Registry, slug: string): object {
  const view = index.viewAt(`workflows/${slug}`)
  return {
    isUnrecorded: view?.isUnrecorded,
    variants: view?.variants.map((it) => [it.slug, it.since]),
    tags: Object.fromEntries(view?.tagsSince ?? []),
  }
}

/** All that is derived, but for the objects that read, and since when refs are there. */
function shape({ repository, family, revisions: _, source, tagsSince, ...view }: ArtifactView): string {
  const variants = view.variants.map(({ since, ...variant }) => variant)
  const defaultVariant = view.defaultVariant?.slug
  const maps = { tags: [...view.tags], archived: [...view.archived], variants, defaultVariant }
  const refs = [...source.refs.refs].sort()
  return stringifyJson({
    ...view,
    ...maps,
    refs,
    head: source.refs.head,
    path: repository.path,
    of: family.folder,
  })
}

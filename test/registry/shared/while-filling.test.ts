import { expect } from 'chai'
import { setTimeout as pause } from 'node:timers/promises'
import type { OpenLog } from '../../../src/cluster/following/shared-log.ts'
import { workflowFamily } from '../../../src/run/handlers/workflows.ts'
import { environmentFamily } from '../../../src/registry/families/environment-surface.ts'
import { createArtifact } from '../../../src/registry/artifacts/create-artifact.ts'
import type { ArtifactView } from '../../../src/registry/artifacts/artifact-view.ts'
import type { WantedSlug } from '../../../src/registry/index/slug-table.ts'
import type { Registry } from '../../../src/registry/store/registry.ts'
import { shadowsOf } from '../../../src/registry/slugs/shadowed-slugs.ts'
import { latestOf } from '../../../src/registry/revisions/revision.ts'
import { commitRevision } from '../../../src/registry/revisions/commit-revision.ts'
import { purgeTrash, trashArtifact } from '../../../src/registry/artifacts/trash-artifact.ts'
import { createVariant } from '../../../src/registry/variants/create-variant.ts'
import { defaultVariantOrNew } from '../../../src/registry/variants/default-variant.ts'
import { context, newVariant } from '../memory-registry.ts'
import { sharedEngines } from './engines.ts'
import { type HeldFill, heldFill } from './held-fill.ts'
import { deploy, messagesOf, type SharedServer, sharedServer } from './shared-server.ts'

const SLUGS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i']

for (const engine of sharedEngines()) {
  describe(`versioning: a server whose folder is being filled, over ${engine.name}`, function () {
    let openLog: OpenLog
    let held: HeldFill
    let here: SharedServer
    let there: SharedServer

    before(async function () {
      engine.need(this)
      await engine.begin()
    })
    beforeEach(async () => {
      openLog = await engine.newDatabase()
      here = await sharedServer(openLog)
      for (const slug of SLUGS) await newVariant(here.registry, workflowFamily, slug)
      await newVariant(here.registry, environmentFamily, 'live')
      held = heldFill(openLog)
      there = await sharedServer(held.openLog)
    })
    afterEach(async () => {
      await here.store.close()
      await there.store.close()
    })
    after(() => engine.end())

    const whole = async (): Promise<void> => {
      held.allow(100)
      await there.store.filling?.whole
      await there.registry.index.load()
      for (const { store } of [here, there]) await store.fresh()
      expect(there.refs()).to.deep.equal(here.refs())
      expect([...(await there.registry.index.list(workflowFamily))].map(({ slug }) => slug)).to.deep.equal(
        [...(await here.registry.index.list(workflowFamily))].map(({ slug }) => slug),
      )
    }

    it('finds by slug, id, variant and revision what is not there yet, and is sure of what there is not', async () => {
      const d = await artifactOf(here.registry, 'd')
      await createVariant(here.registry, d, { slug: 'forked', header: {}, loc: [] }, context)
      await commitTo(here.registry, 'e', 'first', 'Chosen')
      await there.store.fresh()
      const { index } = there.registry
      expect((await index.findBySlug(workflowFamily, 'h'))?.slug).to.equal('h')
      expect((await index.findByDigits((await artifactOf(here.registry, 'i')).id))?.slug).to.equal('i')
      const ownerOf = async (...wanted: WantedSlug): Promise<string | undefined> =>
        (await index.oldestClaim(workflowFamily, [wanted]))?.artifact.slug
      expect(await ownerOf('variant', 'forked')).to.equal('d')
      expect(await ownerOf('tag', 'Chosen')).to.equal('e')
      expect((await index.findBySlug(environmentFamily, 'live'))?.slug).to.equal('live')
      expect(await index.findBySlug(workflowFamily, 'none')).to.equal(undefined)
      expect(await index.findBySlug(environmentFamily, 'h')).to.equal(undefined)
      expect(await index.findByDigits(d.id.replace(/.{6}$/, '000000'))).to.equal(undefined)
      expect(await ownerOf('variant', 'none')).to.equal(undefined)
      expect(await ownerOf('tag', 'none')).to.equal(undefined)
      await whole()
    })

    it('finds by their ids those that the fill has put there', async () => {
      held.allow(6)
      await until(() => there.registry.store.exists('workflows', 'c'))
      expect(there.registry.store.exists('workflows', 'i')).to.equal(false)
      for (const slug of ['b', 'c', 'i']) {
        const { id } = await artifactOf(here.registry, slug)
        expect((await there.registry.index.findByDigits(id))?.slug).to.equal(slug)
      }
      await whole()
    })

    it('refuses what goes over all repositories, and says how far it is', async () => {
      held.allow(4)
      await until(() => there.store.filling?.progress().there === 4)
      const { index, trash } = there.registry
      for (const refused of [
        () => index.list(workflowFamily),
        () => index.refresh([workflowFamily]),
        () => trash.list(),
      ]) {
        const error = await refused().then(
          () => undefined,
          (reason: unknown) => reason as Error & { readonly code: string },
        )
        expect(error?.code).to.equal('storage_unavailable')
        expect(error?.message).to.include('4 of 5000 repositories')
      }
      await whole()
    })

    it('takes writes to what is not there yet, and makes what is new, and no slug twice', async () => {
      await commitTo(there.registry, 'g', 'from there')
      await here.store.fresh()
      expect(await messagesOf(here.registry, 'g')).to.deep.equal(['from there'])
      await commitTo(here.registry, 'g', 'from here')
      await commitTo(here.registry, 'f', 'not there yet')
      await there.store.fresh()
      expect(await messagesOf(there.registry, 'g')).to.deep.equal(['from here', 'from there'])
      expect(await messagesOf(there.registry, 'f')).to.deep.equal(['not there yet'])
      const make = (slug: string): Promise<unknown> =>
        createArtifact(there.registry, workflowFamily, { slug, header: {}, loc: [] }, context)
      expect(await codeOf(make('H'))).to.equal('slug_taken')
      expect(await codeOf(make('new'))).to.equal('done')
      const fork = async (slug: string): Promise<unknown> =>
        createVariant(
          there.registry,
          await artifactOf(there.registry, 'new'),
          { slug, header: {}, loc: [] },
          context,
        )
      // The first variant of another artifact, which is not there, has it: it means that one where it stands alone.
      expect(await codeOf(fork('i'))).to.equal('done')
      expect(await codeOf(fork('I'))).to.equal('slug_taken')
      const shadows = await shadowsOf(there.registry, await artifactOf(there.registry, 'new'), [
        ['variant', 'i'],
      ])
      expect(shadows.map(({ artifact }) => artifact)).to.deep.equal(['i'])
      expect(await codeOf(fork('free'))).to.equal('done')
      await whole()
    })

    it('deploys what is not there yet to an environment that is not there yet either', async () => {
      await commitTo(here.registry, 'f', 'first')
      await there.store.fresh()
      await deploy(there.registry, 'f', 'live')
      await here.store.fresh()
      const deployed = await here.registry.index.findBySlug(environmentFamily, 'live')
      expect(
        deployed?.defaultVariant && (await latestOf(deployed, deployed.defaultVariant))?.version,
      ).to.equal(1)
      await whole()
      // What mirrors it could not be looked for before.
      await there.mirrors.syncAll()
      await here.store.fresh()
      expect(Object.keys(here.refs()['workflows/f'] ?? {})).to.include('refs/environments/live')
    })

    it('has nothing that is removed for good while the others come', async () => {
      await trashArtifact(here.registry, await artifactOf(here.registry, 'h'), context, async () => [])
      await trashArtifact(here.registry, await artifactOf(here.registry, 'i'), context, async () => [])
      await there.store.fresh()
      expect(await there.registry.index.findBySlug(workflowFamily, 'h')).to.equal(undefined)
      expect((await there.registry.trash.holderOf('artifact', workflowFamily, 'h'))?.artifact.slug).to.equal(
        'h',
      )
      for (const trashed of await here.registry.trash.list()) await purgeTrash(here.registry, trashed)
      await there.store.fresh()
      await newVariant(here.registry, workflowFamily, 'i')
      await whole()
      expect(Object.keys(there.refs())).not.to.include.members(['workflows/h'])
    })

    it('goes on where it was, if it is stopped', async () => {
      held.allow(6)
      await until(() => there.store.filling?.progress().there === 6)
      await there.store.close()
      held = heldFill(openLog)
      there = await sharedServer(held.openLog, there.fs)
      await until(() => held.asked.length > 0)
      expect(held.asked[0]).to.equal('default/workflows/e.git')
      await commitTo(here.registry, 'a', 'meanwhile')
      await there.store.fresh()
      expect(await messagesOf(there.registry, 'a')).to.deep.equal(['meanwhile'])
      await whole()
    })

    it('says what keeps the others from coming, serves what it has, and goes on when that is over', async () => {
      held.allow(4)
      await until(() => there.store.filling?.progress().there === 4)
      await until(() => there.store.filling?.progress().problem === 'no more pages for now')
      expect(await codeOf(there.registry.index.list(workflowFamily))).to.equal('storage_unavailable')
      expect((await there.registry.index.findBySlug(workflowFamily, 'h'))?.slug).to.equal('h')
      await whole()
    })
  })
}

async function artifactOf(registry: Registry, slug: string): Promise<ArtifactView> {
  const artifact = await registry.index.findBySlug(workflowFamily, slug)
  if (!artifact) throw new Error(`${slug} is not there`)
  return artifact
}

async function commitTo(registry: Registry, slug: string, message: string, tag?: string): Promise<void> {
  const place = await defaultVariantOrNew(registry, await artifactOf(registry, slug), context)
  await commitRevision(registry, place, { header: {}, message, data: {}, slug: tag, loc: [] }, context)
}

async function codeOf(attempt: Promise<unknown>): Promise<string> {
  return attempt.then(
    () => 'done',
    (error: unknown) => String((error as { code?: string }).code ?? error),
  )
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await pause(5)
}

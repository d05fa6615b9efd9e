import { expect } from 'chai'
import type { OpenLog } from '../../../src/cluster/following/shared-log.ts'
import { workflowFamily } from '../../../src/run/handlers/workflows.ts'
import { environmentFamily } from '../../../src/registry/families/environment-surface.ts'
import { seedEnvironments } from '../../../src/registry/families/seed-environments.ts'
import { createArtifact } from '../../../src/registry/artifacts/create-artifact.ts'
import type { Registry } from '../../../src/registry/store/registry.ts'
import { commitRevision } from '../../../src/registry/revisions/commit-revision.ts'
import { claimsIn } from '../../../src/registry/index/slug-table.ts'
import {
  purgeTrash,
  trashArtifact,
  undeleteArtifact,
} from '../../../src/registry/artifacts/trash-artifact.ts'
import { createVariant } from '../../../src/registry/variants/create-variant.ts'
import { defaultVariantOrNew } from '../../../src/registry/variants/default-variant.ts'
import { context, newVariant } from '../memory-registry.ts'
import { sharedEngines } from './engines.ts'
import { deploy, messagesOf, type SharedServer, sharedServer } from './shared-server.ts'

const PROMPT = { parameters: { prompt: { messages: [{ role: 'user', content: 'Hello' }] } } }

for (const engine of sharedEngines()) {
  describe(`versioning: several servers over ${engine.name}`, function () {
    let openLog: OpenLog
    let servers: SharedServer[]

    before(async function () {
      engine.need(this)
      await engine.begin()
    })
    beforeEach(async () => {
      openLog = await engine.newDatabase()
      servers = [await sharedServer(openLog), await sharedServer(openLog)]
    })
    afterEach(async () => {
      await allFresh()
      const [first, ...others] = servers.map(({ refs }) => refs())
      for (const other of others) expect(other).to.deep.equal(first)
      for (const { store } of servers) await store.close()
    })
    after(() => engine.end())

    const allFresh = async (): Promise<void> => {
      for (const { store } of servers) await store.fresh()
    }
    const here = (): SharedServer => servers[0]!
    const there = (): SharedServer => servers[1]!

    it('shows at one what was created, committed, forked and deployed at the other', async () => {
      const bot = await newVariant(here().registry, workflowFamily, 'bot')
      await commitTo(here().registry, 'bot', 'first')
      await there().store.fresh()
      expect(await versionOf(there().registry, 'bot')).to.equal(1)
      await commitTo(there().registry, 'bot', 'second', 'chosen')
      await here().store.fresh()
      expect(await versionOf(here().registry, 'bot')).to.equal(2)
      expect(Object.keys(here().refs()['workflows/bot'] ?? {})).to.include('refs/tags/chosen')
      const start = here()
        .registry.store.repository('workflows', 'bot')
        .refs.snapshot()
        .refs.get('refs/heads/bot')
      await createVariant(
        here().registry,
        bot.artifact,
        { slug: 'other', header: {}, start, loc: [] },
        context,
      )
      await newVariant(there().registry, environmentFamily, 'live')
      await here().store.fresh()
      await deploy(here().registry, 'bot', 'live')
      await there().store.fresh()
      expect(Object.keys(there().refs()['workflows/bot'] ?? {})).to.include.members([
        'refs/heads/other',
        'refs/environments/live',
      ])
    })

    it('takes writes to one branch at both, one after the other, and loses none', async () => {
      await newVariant(here().registry, workflowFamily, 'bot')
      await allFresh()
      const writes = servers.flatMap(({ registry }, at) =>
        Array.from({ length: 15 }, (_, number) => commitTo(registry, 'bot', `${at}.${number}`)),
      )
      await Promise.all(writes)
      await allFresh()
      for (const { registry } of servers) {
        expect(await versionOf(registry, 'bot')).to.equal(30)
        expect((await messagesOf(registry, 'bot')).sort()).to.deep.equal(
          servers.flatMap((_, at) => Array.from({ length: 15 }, (__, number) => `${at}.${number}`)).sort(),
        )
      }
    })

    it('gives a slug to one of two that want it at the same time, whatever its case', async () => {
      const make = ({ registry }: SharedServer, slug: string): Promise<unknown> =>
        createArtifact(registry, workflowFamily, { slug, header: {}, loc: [] }, context)
      for (const [one, other] of [
        ['bot', 'bot'],
        ['Case', 'cASE'],
      ] as const)
        expect(await outcomesOf([make(here(), one), make(there(), other)])).to.deep.equal([
          'done',
          'slug_taken',
        ])
    })

    it('gives a variant and a revision their slugs once in an artifact, and means the oldest by them at both', async () => {
      for (const slug of ['one', 'two']) await newVariant(here().registry, workflowFamily, slug)
      await allFresh()
      const fork = async ({ registry }: SharedServer, artifact: string, slug: string): Promise<unknown> =>
        createVariant(registry, await artifactOf(registry, artifact), { slug, header: {}, loc: [] }, context)
      // Where the other's record would be written over.
      expect(await outcomesOf([fork(here(), 'one', 'same'), fork(there(), 'one', 'SAME')])).to.deep.equal([
        'done',
        'slug_taken',
      ])
      await allFresh()
      const named = [
        commitTo(here().registry, 'one', 'a', 'Named'),
        commitTo(there().registry, 'one', 'b', 'named'),
      ]
      expect(await outcomesOf(named)).to.deep.equal(['done', 'slug_taken'])
      // A revision of a variant "late" would be called "late-7".
      const clash = [commitTo(here().registry, 'one', 'c', 'late-7'), fork(there(), 'one', 'late')]
      expect(await outcomesOf(clash)).to.deep.equal(['done', 'slug_taken'])
      const shared = [
        fork(here(), 'one', 'beta'),
        fork(there(), 'two', 'beta'),
        commitTo(here().registry, 'one', 'd', 'stable'),
        commitTo(there().registry, 'two', 'e', 'stable'),
      ]
      expect(await outcomesOf(shared)).to.deep.equal(shared.map(() => 'done'))
      await allFresh()
      for (const wanted of [
        ['variant', 'beta'],
        ['tag', 'stable'],
      ] as const) {
        const since = async (slug: string): Promise<string> =>
          claimsIn(await artifactOf(here().registry, slug), [wanted])[0]?.since ?? ''
        const [one, two] = [await since('one'), await since('two')]
        const elder = one < two ? 'one' : 'two'
        for (const { registry } of servers) {
          const found = await registry.index.oldestClaim(workflowFamily, [wanted])
          // Of one millisecond, the older artifact.
          expect(found?.artifact.slug).to.equal(one === two ? 'one' : elder)
        }
      }
    })

    it('trashes at one what is gone at the other then, and brings it back', async () => {
      const { artifact } = await newVariant(here().registry, workflowFamily, 'bot')
      await commitTo(here().registry, 'bot', 'kept')
      await there().store.fresh()
      await trash(there().registry, 'bot')
      await here().store.fresh()
      expect(Object.keys(here().refs())).to.deep.equal(['.trash/workflows/bot'])
      const again = [
        createArtifact(here().registry, workflowFamily, { slug: 'Bot', header: {}, loc: [] }, context),
      ]
      expect(await outcomesOf(again)).to.deep.equal(['slug_taken'])
      const [trashed] = await here().registry.trash.list()
      if (!trashed) throw new Error('nothing is in the trash')
      await undeleteArtifact(here().registry, trashed, context)
      await there().store.fresh()
      expect(await messagesOf(there().registry, 'bot')).to.deep.equal(['kept'])
      await trash(here().registry, 'bot')
      await there().store.fresh()
      const [last] = await there().registry.trash.list()
      await purgeTrash(there().registry, last)
      await allFresh()
      expect(here().refs()).to.deep.equal({})
      // Its names are free again, at both.
      const { artifact: next } = await newVariant(here().registry, workflowFamily, 'bot')
      expect(next.id).not.to.equal(artifact.id)
      await commitTo(here().registry, 'bot', 'anew')
      await there().store.fresh()
      expect(await messagesOf(there().registry, 'bot')).to.deep.equal(['anew'])
    })

    it('either deploys an artifact or trashes it, where both are wanted at the same time', async () => {
      for (let round = 1; round <= 5; round++) {
        const [bot, live] = [`bot-${round}x`, `live-${round}x`]
        await newVariant(here().registry, workflowFamily, bot)
        await commitTo(here().registry, bot, 'first')
        await newVariant(here().registry, environmentFamily, live)
        await allFresh()
        const outcomes = await outcomesOf([deploy(here().registry, bot, live), trash(there().registry, bot)])
        expect(outcomes).to.include('done')
        expect(['artifact_not_found', 'in_use', 'revision_not_found', 'variant_not_found']).to.include(
          outcomes[1],
        )
      }
    })

    it('makes no environment again, at a new server either, that was removed for good', async () => {
      await seedEnvironments(here().registry)
      const staging = await artifactOf(here().registry, 'staging', environmentFamily)
      await trashArtifact(here().registry, staging, context, async () => [])
      for (const trashed of await here().registry.trash.list()) await purgeTrash(here().registry, trashed)
      servers.push(await sharedServer(openLog))
      await seedEnvironments(servers[2]!.registry)
      expect(Object.keys(servers[2]!.refs())).to.deep.equal([
        'environments/development',
        'environments/production',
      ])
    })

    it('fills an empty folder with what there is', async () => {
      for (const slug of ['one', 'two', 'three']) {
        await newVariant(here().registry, workflowFamily, slug)
        await commitTo(here().registry, slug, 'first')
      }
      await trash(here().registry, 'two')
      servers.push(await sharedServer(openLog))
      expect(servers[2]?.refs()).to.deep.equal(here().refs())
      expect(await messagesOf(servers[2]!.registry, 'three')).to.deep.equal(['first'])
      await commitTo(servers[2]!.registry, 'three', 'second')
    })

    it('fills a folder anew whose machine was started again: a power cut may have torn a pack of it', async () => {
      await newVariant(here().registry, workflowFamily, 'torn')
      await commitTo(here().registry, 'torn', 'first')
      const server = await sharedServer(openLog)
      const { fs, store } = server
      await store.close()
      const packs = '/store/default/workflows/torn.git/objects/pack'
      for (const name of fs.readDir(packs) ?? []) {
        if (!name.endsWith('.pack')) continue
        fs.remove(`${packs}/${name}`)
        fs.create(`${packs}/${name}`, Buffer.alloc(100))
      }
      const position = fs.readFile('/store/.copy/position')?.toString() ?? ''
      fs.remove('/store/.copy/position')
      fs.create('/store/.copy/position', Buffer.from(position.replace(/"boot":"[^"]*"/, '"boot":"before"')))
      servers.push(await sharedServer(openLog, fs))
      expect(await messagesOf(servers.at(-1)!.registry, 'torn')).to.deep.equal(['first'])
      expect(servers.at(-1)?.refs()).to.deep.equal(here().refs())
    })
  })
}

async function artifactOf(registry: Registry, slug: string, family = workflowFamily) {
  const artifact = await registry.index.findBySlug(family, slug)
  if (!artifact) throw Object.assign(new Error(`${slug} is not there`), { code: 'artifact_not_found' })
  return artifact
}

async function commitTo(registry: Registry, artifact: string, message: string, slug?: string): Promise<void> {
  const place = await defaultVariantOrNew(registry, await artifactOf(registry, artifact), context)
  await commitRevision(registry, place, { header: {}, message, data: PROMPT, slug, loc: [] }, context)
}

async function trash(registry: Registry, slug: string): Promise<void> {
  await trashArtifact(registry, await artifactOf(registry, slug), context, async () => [])
}

async function versionOf(registry: Registry, slug: string): Promise<number> {
  return (await messagesOf(registry, slug)).length
}

/** What became of each, those that were done first. */
async function outcomesOf(attempts: readonly Promise<unknown>[]): Promise<string[]> {
  const settled = await Promise.allSettled(attempts)
  const codes = settled.map((it) =>
    it.status === 'fulfilled' ? 'done' : String((it.reason as { code?: string }).code ?? it.reason),
  )
  return codes.sort((a, b) => Number(b === 'done') - Number(a === 'done'))
}

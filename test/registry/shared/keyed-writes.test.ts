import { expect } from 'chai'
import { type IntentAttempt, Intents } from '../../../src/access/keys/intents.ts'
import { Refusal } from '../../../src/errors.ts'
import type { OpenLog } from '../../../src/cluster/following/shared-log.ts'
import { workflowFamily } from '../../../src/run/handlers/workflows.ts'
import { commitRevision } from '../../../src/registry/revisions/commit-revision.ts'
import { defaultVariantOrNew } from '../../../src/registry/variants/default-variant.ts'
import { context, newVariant } from '../memory-registry.ts'
import { sharedEngines } from './engines.ts'
import { type SharedServer, sharedServer } from './shared-server.ts'

for (const engine of sharedEngines()) {
  describe(`versioning: a keyed write that was cut off, over ${engine.name}`, function () {
    let openLog: OpenLog
    let servers: SharedServer[]

    before(async function () {
      engine.need(this)
      await engine.begin()
    })
    beforeEach(async () => {
      openLog = await engine.newDatabase()
      servers = []
      await begin()
      await newVariant(servers[0]!.registry, workflowFamily, 'bot')
    })
    afterEach(async () => {
      for (const { store } of servers) await store.close()
    })
    after(() => engine.end())

    const begin = async (fs?: SharedServer['fs']): Promise<SharedServer> => {
      const server = await sharedServer(openLog, fs)
      servers.push(server)
      return server
    }

    /** Sends one and the same keyed commit to a server; answers the version, by what else it is told as the server dies. */
    const send = (
      { store, registry }: SharedServer,
      after: () => void = () => undefined,
    ): Promise<number> => {
      const intents = new Intents(store.fs, '/store', () => new Date())
      const request = { project: 'default', credential: 'me', key: 'once', asks: ['a commit'] }
      const run = async (attempt: IntentAttempt) => {
        const artifact = await registry.index.findBySlug(workflowFamily, 'bot')
        if (!artifact) throw new Error('bot is not there')
        const place = await defaultVariantOrNew(registry, artifact, context)
        const keyed = { ...context, idempotencyKey: 'once', attemptedAt: attempt.earlier, attempt }
        const sent = { header: {}, message: 'keyed', data: {}, loc: [] }
        const { version } = (await commitRevision(registry, place, sent, keyed)).revision
        after()
        return { answer: version, address: { id: String(version) } }
      }
      return intents.once(request, {
        run,
        recall: async ({ id }) => Number(id),
        isRefusal: (error) => error instanceof Refusal,
      })
    }
    const die = (): never => {
      throw new Error('killed')
    }
    const cutOff = async (server: SharedServer, how: () => void = die): Promise<void> => {
      const error: unknown = await send(server, how).catch((it: unknown) => it)
      expect(error).to.be.instanceOf(Error)
    }

    it('is answered by a server whose folder was filled anew, and stored once', async () => {
      await cutOff(servers[0]!)
      expect(await send(await begin())).to.equal(1)
      expect(await send(servers[0]!)).to.equal(1)
      expect(await send(await begin())).to.equal(1)
      for (const { store, registry } of servers) {
        await store.fresh()
        const artifact = await registry.index.findBySlug(workflowFamily, 'bot')
        const head = await artifact?.repository.history.node(artifact.variants[0]?.head ?? '')
        expect(head?.depth).to.equal(1)
      }
    })

    it('is answered by the server that was cut off, before and after its next start', async () => {
      const [server] = servers as [SharedServer]
      await cutOff(server)
      await cutOff(server)
      await server.store.close()
      servers = []
      expect(await send(await begin(server.fs))).to.equal(1)
    })

    it('leaves nothing beside its intent once that has the result, at any server', async () => {
      const folder = '/store/default/idempotency'
      const other = await begin()
      expect(await send(servers[0]!)).to.equal(1)
      for (const { fs, store } of [servers[0]!, other]) {
        for (let names: readonly string[] = []; names.length !== 1; names = fs.readDir(folder) ?? []) {
          await store.fresh()
          await new Promise((resolve) => setImmediate(resolve))
        }
        expect((fs.readDir(folder) ?? [])[0]).to.match(/\.json$/)
      }
      expect(await send(other)).to.equal(1)
    })

    it('is worked anew where it was refused since: then nothing tells of the first attempt', async () => {
      const [server] = servers as [SharedServer]
      await cutOff(server)
      await cutOff(server, () => {
        throw new Refusal('archived', 'not any more')
      })
      const folder = '/store/default/idempotency'
      const other = await begin()
      expect((server.fs.readDir(folder) ?? []).concat(other.fs.readDir(folder) ?? [])).to.deep.equal([])
      expect(await send(other)).to.equal(2)
    })
  })
}

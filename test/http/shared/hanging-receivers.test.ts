import { expect } from 'chai'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type PostgresServer, startPostgres } from '../../support/postgres/postgres.ts'
import { type RunningService, startService } from '../../support/servers/service.ts'
import { needsPostgres } from '../../support/postgres/needs-postgres.ts'
import { type Receiver, startReceiver } from '../../support/servers/receiver.ts'
import { HOOK_ENV } from '../../support/clients/webhook-client.ts'

describe('http: a receiver that hangs, of two servers over one PostgreSQL', function () {
  let postgres: PostgresServer
  const running: { stop(): Promise<void> }[] = []
  before(async function () {
    needsPostgres(this)
    postgres = await startPostgres()
  })
  afterEach(async () => {
    for (const one of running.splice(0).reverse()) await one.stop()
  })
  after(() => postgres?.stop())

  /** Two servers, a receiver that never answers and one that does. */
  const start = async (env: Record<string, string>) => {
    const url = await postgres.database()
    const server = async (): Promise<RunningService> => {
      const folder = mkdtempSync(join(tmpdir(), 'branchpoint-copy-'))
      const whole = { ...HOOK_ENV, STORE: url, CACHE_DIR: folder, ...env }
      const service = await startService({ storeDir: folder, env: whole })
      running.push(service)
      return service
    }
    const receiver = async (): Promise<Receiver> => {
      const made = await startReceiver()
      running.push(made)
      return made
    }
    const [hanging, good] = [await receiver(), await receiver()]
    hanging.answerAll('silence')
    return { servers: [await server(), await server()], hanging, good }
  }

  const posted = async (to: RunningService | undefined, path: string, body?: object) => {
    const reply = await to?.post(path, body)
    expect(reply?.status, reply?.text).to.equal(200)
    return reply?.body
  }

  /** Registers a receiver so often, and answers the ids of its webhooks. */
  const register = async (
    to: RunningService | undefined,
    { url }: Receiver,
    times = 1,
  ): Promise<string[]> => {
    const ids: string[] = []
    while (ids.length < times) {
      const { webhook } = await posted(to, '/webhooks', { webhook: { url, events: ['revision.committed'] } })
      ids.push(webhook.id)
    }
    return ids
  }

  const commits = async (servers: readonly RunningService[], count: number): Promise<void> => {
    const { workflow } = await posted(servers[0], '/simple/workflows', {
      workflow: { slug: 'told', data: { parameters: { n: 1 } } },
    })
    for (let n = 2; n <= count; n++)
      await posted(servers[n % servers.length], '/workflows/revisions/commit', {
        workflow_revision_commit: { workflow_variant_id: workflow.variant_id, data: { parameters: { n } } },
      })
  }

  it('does not hold up another one', async () => {
    const { servers, hanging, good } = await start({})
    await register(servers[0], hanging)
    await register(servers[1], good)
    await commits(servers, 6)
    await good.waitFor(6)
    // It has had the first event, and no answer has come yet.
    expect(hanging.received).to.have.length(1)
  })

  it('holds up another one for an attempt, also where there are more of it than set out at once', async () => {
    const { servers, hanging, good } = await start({
      WEBHOOK_TIMEOUT_MS: '1000',
      WEBHOOK_RETRY_SECONDS: Array.from({ length: 20 }, () => '0.01').join(','),
    })
    const ids = await register(servers[0], hanging, 20)
    await register(servers[1], good)
    await commits(servers, 3)
    await good.waitFor(3)
    const { deliveries } = await posted(servers[0], `/webhooks/${ids[0]}/deliveries/query`)
    const states = deliveries.map(({ status }: { status: string }) => status)
    expect(states).to.deep.equal(['pending', 'pending', 'pending'])
  })
})

import { expect } from 'chai'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { ask, type PostgresPair, startPair } from '../../support/postgres/postgres.ts'
import { type RunningService, startService } from '../../support/servers/service.ts'
import { needsPostgres } from '../../support/postgres/needs-postgres.ts'

describe('postgres: a primary without its standby', function () {
  let pair: PostgresPair
  let service: RunningService

  before(async function () {
    needsPostgres(this)
    pair = await startPair()
    const folder = mkdtempSync(join(tmpdir(), 'branchpoint-copy-'))
    // Reads go on meanwhile, so writes get as far as to be decided.
    const env = { STORE: pair.url('postgres'), CACHE_DIR: folder, READS: 'primary' }
    service = await startService({ storeDir: folder, env })
  })
  after(async () => {
    await service?.stop()
    await pair?.stop()
  })

  /** How many appends the database is at. */
  const appends = async (): Promise<number> => {
    const text = `select from pg_stat_activity where query like 'select branchpoint.append%' and state = 'active'`
    return (await ask(pair.primary.url('postgres'), text)).length
  }

  it('refuses the writes that wait behind one with it, stores none of them, and goes on when it has its standby', async () => {
    const workflow = { slug: 'bot', data: { parameters: { number: 1 } } }
    const created = await service.post('/simple/workflows/', { workflow })
    expect(created.status, created.text).to.equal(200)
    const variant = created.body.workflow.variant_id
    const commit = (number: number, more = {}) =>
      service.post('/workflows/revisions/commit', {
        workflow_revision_commit: {
          ...{ workflow_variant_id: variant, data: { parameters: { number } } },
          ...more,
        },
      })
    const fork = (slug: string) =>
      service.post('/workflows/variants/fork', {
        workflow_variant_ref: { id: variant },
        workflow_variant: { slug },
      })
    expect((await commit(2)).status).to.equal(200)

    await pair.standby.halt()
    const first = commit(3)
    while ((await appends()) === 0) await pause(20)
    const behind = [commit(4), commit(5, { deploy: ['production'] }), fork('one'), commit(6), fork('two')]
    const replies = await Promise.all([first, ...behind])
    for (const reply of replies) {
      expect(reply.status, reply.text).to.equal(503)
      expect(reply.headers.get('retry-after')).to.not.equal(null)
      expect(reply.body).to.include({ code: 'storage_unavailable' })
    }
    // The first one is on its way still; another one would be, too, if it had been sent.
    expect(await appends()).to.equal(1)

    await pair.standby.again()
    // What was on its way is stored now, as it may be: nobody was told that it was not.
    while ((await appends()) > 0) await pause(20)
    const next = await commit(7)
    expect(next.status, next.text).to.equal(200)
    const log = await service.post('/workflows/revisions/log', {
      ...{ workflow: { workflow_variant_id: variant }, include_data: true },
    })
    const numbers = log.body.workflow_revisions.map((it: any) => it.data.parameters.number)
    expect(numbers).to.deep.equal([7, 3, 2, 1])
    const variants = await service.post('/workflows/variants/query', {})
    expect(variants.body.workflow_variants).to.have.length(1)
  })
})

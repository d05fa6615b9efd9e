import { expect } from 'chai'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { git } from '../../support/git/git-program.ts'
import type { RunningService } from '../../support/servers/service.ts'
import { startService } from '../../support/servers/service.ts'
import { cloneOf } from '../../support/git/git-client.ts'

const condition = { field: 'span_name', value: 'bot' }
const conditions = (count: number) => ({ conditions: Array.from({ length: count }, () => condition) })

const nested = (depth: number, wide: number): object =>
  depth === 0 ? conditions(wide) : { conditions: [nested(depth - 1, wide), nested(depth - 1, wide)] }

const TOO_LARGE: Readonly<Record<string, object>> = {
  '1001 conditions': conditions(1001),
  'as many in groups': { conditions: [conditions(500), conditions(500)] },
  'many groups without conditions': {
    conditions: Array.from({ length: 1001 }, () => ({ conditions: [] })),
  },
  'groups in groups': nested(8, 3),
  'a long list of values': {
    conditions: [{ field: 'span_name', operator: 'in', value: Array.from({ length: 10_001 }, () => 'x') }],
  },
  'many values deep in one': {
    conditions: [
      {
        field: 'attributes',
        key: 'a',
        operator: 'is',
        value: { a: Array.from({ length: 5001 }, () => [1]) },
      },
    ],
  },
  'a long pattern': {
    conditions: [{ field: 'span_name', operator: 'matches', value: 'x'.repeat(100_001) }],
  },
}

describe('traces over HTTP: how large a filtering may be', () => {
  let service: RunningService
  before(async () => (service = await startService()))
  after(() => service.stop())

  it('one within the bounds is asked, and can be kept', async () => {
    const list = { field: 'span_name', operator: 'in', value: Array.from({ length: 9999 }, () => 'x') }
    const filtering = { conditions: [...conditions(998).conditions, { conditions: [list] }] }
    const { status, text } = await service.post('/traces/query', { filtering })
    expect(status, text).to.equal(200)
    expect((await service.post('/simple/queries', { query: { data: { filtering } } })).status).to.equal(200)
  })

  for (const [what, filtering] of Object.entries(TOO_LARGE)) {
    it(`refuses ${what}, in a request and in a query that is to be kept`, async () => {
      const refused = [
        await service.post('/traces/query', { filtering }),
        await service.post('/spans/query', { filtering }),
        await service.post('/simple/queries', { query: { data: { filtering } } }),
      ]
      for (const { status, body } of refused) {
        expect([status, body.code]).to.deep.equal([422, 'invalid_request'])
        expect(body.errors).to.have.length(1)
        expect(body.errors[0].loc.at(-1)).to.equal('filtering')
        expect(body.errors[0].type).to.equal('too_long')
      }
    })
  }

  it('refuses it in a delta and in a push, and to run one that came by plain git, which can be read', async () => {
    const { query } = (
      await service.post('/simple/queries', { query: { slug: 'kept', data: { filtering: conditions(1) } } })
    ).body
    const delta = { set: { filtering: conditions(1001) } }
    const change = { query_variant_id: query.variant_id, delta }
    expect(
      (await service.post('/queries/revisions/commit', { query_revision_commit: change })).body.code,
    ).to.equal('invalid_request')

    const clone = await cloneOf(service, 'kept', { family: 'queries' })
    const data = { filtering: { operator: 'and', ...conditions(1001) } }
    clone.write('data.json', JSON.stringify(data))
    await clone.commit('Larger')
    const pushed = await clone.try('push')
    expect(pushed.code).to.equal(1)
    expect(pushed.terminal).to.match(/data\.json: filtering: must have at most 1000 conditions/)

    writeFileSync(join(clone.folder, 'data.json'), JSON.stringify(data))
    git(service.repository('kept', 'queries'), ['fetch', '-q', clone.folder, '+HEAD:refs/heads/kept'])
    const reference = { query_ref: { slug: 'kept' } }
    const kept = await service.post('/queries/revisions/retrieve', reference)
    expect(kept.body.query_revision.data.filtering.conditions).to.have.length(1001)
    const run = await service.post('/traces/query', reference)
    expect([run.status, run.body.code]).to.deep.equal([422, 'invalid_request'])
    expect(run.body.errors[0].loc).to.deep.equal(['query_revision', 'data', 'filtering'])
  })
})

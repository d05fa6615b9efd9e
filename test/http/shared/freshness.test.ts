import { expect } from 'chai'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type PostgresServer, startPostgres } from '../../support/postgres/postgres.ts'
import { ADMIN_KEY, type RunningService, startService } from '../../support/servers/service.ts'
import { needsPostgres } from '../../support/postgres/needs-postgres.ts'

describe('http: how fresh an answer is', function () {
  let postgres: PostgresServer
  let url: string
  before(async function () {
    needsPostgres(this)
    postgres = await startPostgres()
    url = await postgres.database()
  })
  after(() => postgres?.stop())

  const serving = async (
    env: Readonly<Record<string, string>>,
    work: (service: RunningService) => Promise<void>,
  ): Promise<void> => {
    const folder = mkdtempSync(join(tmpdir(), 'branchpoint-copy-'))
    const service = await startService({ storeDir: folder, env: { STORE: url, CACHE_DIR: folder, ...env } })
    try {
      await work(service)
    } finally {
      await service.stop()
    }
  }

  for (const [by, reads] of [
    ['primary', {}],
    ['primary', { READS: 'primary' }],
    ['quorum', { READS: 'quorum' }],
    ['local', { READS: 'local' }],
  ] as const)
    // interface 2.31
    it(`is said of reads, found and not found, with ${JSON.stringify(reads)}`, () =>
      serving(reads, async (service) => {
        const slug = `bot-${JSON.stringify(reads).length}`
        const made = await service.post('/simple/workflows/', {
          workflow: { slug, data: { parameters: { number: 1 } } },
        })
        expect(made.status, made.text).to.equal(200)
        expect(made.headers.get('svc-freshness')).to.equal(null)
        const replies = [
          await service.post('/workflows/query', {}),
          await service.post('/workflows/revisions/retrieve', { workflow_ref: { slug } }),
          await service.post('/workflows/revisions/retrieve', { workflow_ref: { slug: 'nothing' } }),
          await service.get(`/workflows/revisions/${made.body.workflow.revision_id}`),
        ]
        expect(replies.map(({ status }) => status)).to.deep.equal([200, 200, 404, 200])
        for (const { headers } of replies)
          expect(headers.get('svc-freshness')).to.match(new RegExp(`^${by}; age=[0-9]+$`))
        const advertised = await fetch(
          `${service.url}/git/workflows/${slug}.git/info/refs?service=git-upload-pack`,
          {
            headers: { authorization: `ApiKey ${ADMIN_KEY}` },
          },
        )
        expect(advertised.status, await advertised.text()).to.equal(200)
        expect(advertised.headers.get('svc-freshness')).to.match(new RegExp(`^${by}; age=[0-9]+$`))
      }))

  // interface 2.31
  it('is not said where the folder is the store', async () => {
    const service = await startService()
    try {
      expect((await service.post('/workflows/query', {})).headers.get('svc-freshness')).to.equal(null)
    } finally {
      await service.stop()
    }
  })
})

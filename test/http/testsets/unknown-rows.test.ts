import { expect } from 'chai'
import { KEY, type ChildServer, spawnBranchpoint } from '../../support/servers/child-server.ts'
import { temporaryFolder } from '../../support/git/git-program.ts'

describe('testsets: a delta that names very many unknown rows', () => {
  let server: ChildServer
  before(async () => {
    // a list of the testset's rows for each of them took four gigabytes
    ;({ server } = await spawnBranchpoint(temporaryFolder(), {}, ['--max-old-space-size=400']))
  })
  after(() => server?.stop())

  const post = async (path: string, body: object) => {
    const response = await fetch(`${server.url}${path}`, {
      method: 'POST',
      headers: { authorization: `ApiKey ${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    return { status: response.status, body: (await response.json()) as any }
  }

  // interface 8.12
  it('is refused, and the server goes on', async () => {
    const testcases = Array.from({ length: 2000 }, (_, number) => ({ data: { number } }))
    const made = await post('/simple/testsets/', { testset: { slug: 'rows', data: { testcases } } })
    expect(made.status).to.equal(200)
    const remove = Array.from(
      { length: 26_000 },
      (_, number) => `00000000-0000-7000-8000-${String(number).padStart(12, '0')}`,
    )
    const refused = await post('/testsets/revisions/commit', {
      testset_revision_commit: { testset_variant_ref: { slug: 'rows' }, delta: { rows: { remove } } },
    })
    expect([refused.status, refused.body.code]).to.deep.equal([422, 'no_such_key'])
    expect(refused.body.errors[0].msg).to.match(
      /^"00000000-0000-7000-8000-000000000000" is no row of the revision/,
    )
    expect((await post('/testsets/query', {})).body.count).to.equal(1)
  })
})

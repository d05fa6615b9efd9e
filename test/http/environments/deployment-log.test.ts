import { expect } from 'chai'
import { expectRefusal } from '../conformance/surface-client.ts'
import { keyWithScopes } from '../invocation/key-with-scopes.ts'
import type { EnvironmentClient } from './environment-client.ts'
import { startEnvironments } from './environment-client.ts'

/** Tests look into records freely; the harness has held each against its schema. */
type Found = any

describe('POST /deployments/log', () => {
  let client: EnvironmentClient
  beforeEach(async () => (client = await startEnvironments()))
  afterEach(() => client.stop())

  const log = async (slug: string, windowing?: object): Promise<Found> => {
    const reply = await client.service.post('/deployments/log', { environment_ref: { slug }, windowing })
    expect(reply.status, reply.text).to.equal(200)
    expect(reply.body.count).to.equal(reply.body.entries.length)
    return reply.body
  }
  const words = ({ entries }: Found): string[] =>
    entries.map((it: Found) =>
      it.moved
        .map(({ key, from, to }: Found) => `${key} ${from?.version ?? '-'} ${to?.version ?? '-'}`)
        .join(', '),
    )

  // interface 9.13
  it('says of each deployment which keys it moved and nothing of the others, in pages without gaps', async () => {
    const bot = await client.application(3, { slug: 'bot' })
    const other = await client.application(1, { slug: 'other' })
    for (const { id } of [bot.revisions[0], other.revisions[0], bot.revisions[2]])
      await client.deployed('production', { application_revision_ref: { id }, message: `Deploy ${id}` })
    await client.service.post('/environments/revisions/commit', {
      environment_revision_commit: {
        environment_ref: { slug: 'production' },
        delta: { remove: ['other.revision'] },
      },
    })
    client.deployByGit('production', {
      'bot.revision': { application_revision: { slug: 'bot-2', version: 2 } },
      'gone.revision': { application_revision: { slug: 'gone', version: 7 } },
    })
    await client.latest('production')
    const all = await log('production')
    expect(words(all)).to.deep.equal([
      'bot.revision 3 2, gone.revision - 7',
      'other.revision 1 -',
      'bot.revision 1 3',
      'other.revision - 1',
      'bot.revision - 1',
    ])
    const { environment_revisions: revisions } = (
      await client.service.post('/environments/revisions/log', { environment_ref: { slug: 'production' } })
    ).body
    for (const [at, { environment_revision, author, date, message, subject }] of all.entries.entries()) {
      const { id, slug, version } = revisions[at]
      expect(environment_revision).to.deep.equal({ id, slug, version })
      expect({ author, date, message, subject }).to.deep.equal({
        author: revisions[at].author,
        date: revisions[at].date,
        message: revisions[at].message,
        subject: revisions[at].subject,
      })
    }
    expect(all.entries[2].moved[0].to).to.deep.equal({
      ...{ kind: 'workflow', artifact: 'bot', variant: 'bot', revision: 'bot-3', version: 3 },
    })
    const paged: string[] = []
    let next: string | undefined
    do {
      const page = await log('production', { limit: 2, ...(next === undefined ? {} : { next }) })
      paged.push(...words(page))
      next = page.windowing?.next
    } while (next !== undefined)
    expect(paged).to.deep.equal(words(all))
  })

  it('is empty where nothing was deployed, and refuses naming the field', async () => {
    const { slug } = await client.environment()
    expect(await log(slug)).to.deep.equal({ count: 0, entries: [] })
    const post = (body: object, headers?: Readonly<Record<string, string>>) =>
      client.service.post('/deployments/log', body, headers)
    expectRefusal(await post({}), 422, 'invalid_request', 'body.environment_ref')
    expectRefusal(
      await post({ environment_ref: { slug: 'prodution' } }),
      404,
      'artifact_not_found',
      'prodution',
    )
    expectRefusal(
      await post({ environment_ref: { slug }, windowing: { order: 'name' } }),
      422,
      'unknown_field',
      'body.windowing.order',
    )
    const headers = await keyWithScopes(client.service, ['write'])
    expectRefusal(await post({ environment_ref: { slug } }, headers), 403, 'missing_scope', 'read')
  })
})

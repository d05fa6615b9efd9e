import { expect } from 'chai'
import { git } from '../../support/git/git-program.ts'
import type { EmbedClient } from './embed-client.ts'
import { embed, ok, startEmbeds } from './embed-client.ts'

const BEGIN = 1_700_000_000
const HUNDRED = 100
/** The branch that is n-th by time; names go the other way, so that they cannot be what orders. */
const branch = (n: number): string => `b${String(999 - n)}`
/** Three and three of them have the same second. */
const second = (n: number): number => BEGIN + Math.floor(n / 3)
const time = (at: number): string => new Date(at * 1000).toISOString()

describe('embeds: a hundred dependents, pushed with git', () => {
  const tone = { workflow_ref: { slug: 'tone' } }
  let client: EmbedClient
  before(async () => {
    client = await startEmbeds()
    await client.snippet({ voice: 'calm' }, { slug: 'tone' })
    await client.snippet({}, { slug: 'host' })
    let stream = ''
    for (let n = 0; n < HUNDRED; n++) {
      const data = `${JSON.stringify({ parameters: { n, t: embed({ workflow: { slug: 'tone' } }) } }, undefined, 2)}\n`
      stream +=
        `commit refs/heads/${branch(n)}\ncommitter Ann <ann@example.com> ${second(n)} +0000\n` +
        `data <<END\nOne\nEND\nM 100644 inline data.json\ndata ${data.length}\n${data}\n`
    }
    git(client.service.repository('host'), ['fast-import', '--quiet'], stream)
    await ok(client.service.post('/workflows/revisions/retrieve', { workflow_ref: { slug: 'host' } }))
  })
  after(() => client.stop())

  const page = (windowing?: object): Promise<any> =>
    ok(client.service.post('/workflows/revisions/dependents', { ...tone, windowing }))
  const idsOf = ({ dependents }: any): string[] => dependents.map((it: any) => it.workflow_revision.id)
  const slugsOf = ({ dependents }: any): string[] => dependents.map((it: any) => it.workflow_revision.slug)

  it('all of them, by date, and by id within a second', async () => {
    const all = await page()
    expect(all).to.have.all.keys('count', 'dependents')
    expect(all.count).to.equal(HUNDRED)
    const slugs = slugsOf(all)
    for (let n = 0; n < HUNDRED; n += 3) {
      const same = [n, n + 1, n + 2].filter((it) => it < HUNDRED)
      expect(slugs.slice(n, n + 3)).to.have.members(same.map((it) => `${branch(it)}-1`))
      const ids = idsOf(all).slice(n, n + 3)
      expect(ids).to.deep.equal(ids.toSorted())
    }
    expect(all.dependents[0].locations).to.deep.equal([['parameters', 't']])
  })

  for (const order of ['ascending', 'descending', undefined]) {
    it(`in pages, ${order ?? 'without an order, which is descending'}`, async () => {
      const all = idsOf(await page())
      const expected = order === 'ascending' ? all : all.toReversed()
      const seen: string[] = []
      const sizes: number[] = []
      for (let next: string | undefined; ;) {
        const answer = await page({ limit: 40, order, next })
        seen.push(...idsOf(answer))
        sizes.push(answer.count)
        if (answer.windowing === undefined) break
        expect(answer.windowing.next).to.equal(seen.at(-1))
        next = answer.windowing.next
      }
      expect(sizes).to.deep.equal([40, 40, 20])
      expect(seen).to.deep.equal(expected)
    })
  }

  it('a page that holds them all, or exactly the last, has no next', async () => {
    expect(await page({ limit: HUNDRED })).to.not.have.property('windowing')
    const half = await page({ limit: 50, order: 'ascending' })
    const rest = await page({ limit: 50, order: 'ascending', next: half.windowing.next })
    expect([rest.count, rest.windowing]).to.deep.equal([50, undefined])
  })

  it('between two times', async () => {
    const between = { oldest: time(second(30)), newest: time(second(60)), order: 'ascending' }
    const answer = await page(between)
    const wanted = Array.from({ length: HUNDRED }, (_, n) => n).filter(
      (n) => second(n) > second(30) && second(n) <= second(60),
    )
    expect(slugsOf(answer)).to.have.members(wanted.map((n) => `${branch(n)}-1`))
  })

  it('a commit that is pushed to two repositories is a dependent in each', async () => {
    await client.snippet({}, { slug: 'second-home' })
    const home = client.service.repository('second-home')
    git(client.service.repository('host'), ['push', '--quiet', home, `${branch(0)}:refs/heads/shared`])
    await ok(client.service.post('/workflows/revisions/retrieve', { workflow_ref: { slug: 'second-home' } }))
    const { dependents } = await page({ limit: 4, order: 'ascending' })
    expect(dependents.map((it: any) => `${it.workflow.slug} ${it.workflow_variant.slug}`)).to.have.members([
      `host ${branch(0)}`,
      `host ${branch(1)}`,
      `host ${branch(2)}`,
      'second-home shared',
    ])
  })
})

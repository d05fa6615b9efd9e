import { expect } from 'chai'
import { git } from '../../support/git/git-program.ts'
import type { Reply, RunningService } from '../../support/servers/service.ts'
import { startService } from '../../support/servers/service.ts'
import { expectRefusal, SurfaceClient } from '../conformance/surface-client.ts'
import { testedSurfaces } from '../conformance/tested-surface.ts'
import { hastyFs } from '../../support/disk/hasty-fs.ts'

interface Row {
  readonly id: string
  readonly name?: string
  readonly created_at: string
  readonly updated_at?: string
}

interface Listing {
  readonly path: string
  readonly key: string
  readonly scope: object
  readonly rows: Row[]
}

/** Two alike but for their case, two alike, one without a name. */
const NAMES = ['pear', 'Apple', 'apple', undefined, 'fig', 'fig']

const BY: Readonly<Record<string, (row: Row) => string>> = {
  name: ({ name }) => name?.toLowerCase() ?? '',
  created: (row) => row.created_at,
  updated: (row) => row.updated_at ?? row.created_at,
}

describe('the orders of lists', () => {
  let service: RunningService
  const listings = new Map<string, Listing>()
  before(async () => {
    let time = Date.parse('2026-01-01T00:00:00Z')
    service = await startService({ fs: hastyFs, now: () => new Date((time += 1000)) })
    const surface = testedSurfaces.find(({ singular }) => singular === 'application') ?? expect.fail('none')
    const client = new SurfaceClient(surface, () => service)
    const tags = { set: 'ordered' }
    await client.artifact({ name: 'orange' })
    const artifacts: Row[] = []
    for (const name of NAMES) artifacts.push(await client.artifact({ name, tags }))
    const { id, variantId } = await client.made(0)
    const variants: Row[] = []
    for (const name of NAMES) variants.push(await client.variant(id, { name, tags }))
    const revisions: Row[] = []
    for (const name of NAMES)
      revisions.push(await client.committed(variantId, { name, tags, ...client.payload('n') }))
    for (const n of [4, 1]) {
      const { id: artifact = '' } = artifacts[n] ?? {}
      artifacts[n] = client.record(
        await client.put(`/${artifact}`, { application: { description: 'Later' } }),
      )
      const { id: variant = '' } = variants[n] ?? {}
      const edit = { application_variant: { description: 'Later' } }
      variants[n] = client.record(await client.put(`/variants/${variant}`, edit), '_variant')
    }
    const scope = { application: { tags } }
    listings.set('artifacts', { path: '/applications/query', key: 'applications', scope, rows: artifacts })
    listings.set('simple', {
      path: '/simple/applications/query',
      key: 'applications',
      scope,
      rows: artifacts,
    })
    listings.set('variants', {
      ...{ path: '/applications/variants/query', key: 'application_variants', rows: variants },
      scope: { application_variant: { tags } },
    })
    listings.set('revisions', {
      ...{ path: '/applications/revisions/query', key: 'application_revisions', rows: revisions },
      scope: { application_revision: { tags } },
    })
  })
  after(() => service.stop())

  const ask = ({ path, scope }: Listing, windowing: object): Promise<Reply> =>
    service.post(path, { ...scope, windowing })
  const idsOf = ({ key }: Listing, { status, text, body }: Reply): string[] => {
    expect(status, text).to.equal(200)
    return body[key].map(({ id }: Row) => id)
  }

  for (const name of ['artifacts', 'simple', 'variants', 'revisions']) {
    const listing = (): Listing => listings.get(name) ?? expect.fail(name)
    for (const field of ['name', 'created', 'updated']) {
      // interface 2.19
      it(`${name}: by ${field} from both ends, what is alike by id, paged without a gap`, async () => {
        const keyOf = BY[field] ?? expect.fail(field)
        const expected = [...listing().rows]
          .sort((a, b) => compare(keyOf(a), keyOf(b)) || compare(a.id, b.id))
          .map(({ id }) => id)
        expect(idsOf(listing(), await ask(listing(), { order: field }))).to.deep.equal(expected)
        const down = [...expected].reverse()
        for (const limit of [1, 2, 4, 6]) {
          const found: string[] = []
          let next: string | undefined
          do {
            const reply = await ask(listing(), { order: `-${field}`, limit, next, count_total: true })
            found.push(...idsOf(listing(), reply))
            expect(reply.body.total).to.equal(NAMES.length)
            next = reply.body.windowing?.next
            if (next !== undefined)
              expect(reply.body.windowing).to.deep.equal({
                order: `-${field}`,
                limit,
                next,
                count_total: true,
              })
          } while (next !== undefined && found.length < 20)
          expect(found, String(limit)).to.deep.equal(down)
        }
      })
    }

    // interface 2.19
    it(`${name}: counts within the bounds of time, in every order, and only where it is asked`, async () => {
      const [, first = '', , , last = ''] = listing().rows.map((it) => it.created_at)
      const bounds = { oldest: first, newest: last }
      for (const order of ['name', '-name', 'updated'])
        expect(
          (await ask(listing(), { ...bounds, order, limit: 1, count_total: true })).body.total,
        ).to.be.within(3, 4)
      const asked = { ...bounds, order: 'ascending', limit: 1, count_total: true }
      expect((await ask(listing(), asked)).body).to.include({ count: 1, total: 3 })
      expect((await ask(listing(), { limit: 1 })).body).to.not.have.property('total')
      expect((await ask(listing(), { limit: 1, count_total: false })).body).to.not.have.property('total')
    })

    it(`${name}: takes the same in the query string`, async () => {
      const { path, scope } = listing()
      const inBody = await ask(listing(), { order: '-name', limit: 2, count_total: true })
      const inQuery = await service.post(`${path}?order=-name&limit=2&count_total=true`, scope)
      expect(inQuery.body).to.deep.equal(inBody.body)
    })

    it(`${name}: refuses, naming the field, what it cannot order by, and a row of another list`, async () => {
      const refused = async (windowing: object, field: string, ...words: readonly string[]) =>
        expectRefusal(await ask(listing(), windowing), 422, 'invalid_request', field, ...words)
      await refused({ order: 'version' }, 'body.windowing.order', '"-updated"')
      await refused({ order: '-descending' }, 'body.windowing.order')
      await refused({ count_total: 1 }, 'body.windowing.count_total')
      const [{ id: other = '' } = {}] =
        listings.get(name === 'variants' ? 'artifacts' : 'variants')?.rows ?? []
      await refused({ order: 'name', next: other }, 'body.windowing.next', 'previous answer')
    })
  }

  it('go by name over ten thousand revisions at most', async () => {
    await service.post('/simple/queries', { query: { slug: 'long', data: {}, message: 'One' } })
    const repository = service.repository('long', 'queries')
    const commits = Array.from({ length: 10_000 }, (_, n) =>
      [
        `commit refs/heads/long\ncommitter Ann <ann@example.com> ${1_700_000_000 + n} +0000\ndata 1\nx`,
        ...(n === 0 ? ['from refs/heads/long^0'] : []),
        '',
      ].join('\n'),
    )
    git(repository, ['fast-import', '--quiet'], commits.join('\n'))
    const ask = (windowing: object) => service.post('/queries/revisions/query', { windowing })
    const counted = await ask({ limit: 1, count_total: true })
    expect(counted.body.total, counted.text).to.equal(10_001)
    const refused = await ask({ limit: 1, order: 'name' })
    expectRefusal(refused, 422, 'query_too_slow', 'body.windowing.order', '10000', '"created"')
  })

  it('are two where things have no names', async () => {
    const { rows } = listings.get('artifacts') ?? expect.fail('none')
    const artifact = { application_ref: { id: rows[0]?.id } }
    for (const path of ['/applications/revisions/log', '/applications/revisions/dependents']) {
      const ordered = await service.post(path, { ...artifact, windowing: { order: 'name' } })
      expectRefusal(ordered, 422, 'invalid_request', 'body.windowing.order', '"ascending" or "descending"')
      const counted = await service.post(path, { ...artifact, windowing: { count_total: true } })
      expectRefusal(counted, 422, 'unknown_field', 'body.windowing.count_total')
    }
  })
})

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

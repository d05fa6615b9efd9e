import { expect } from 'chai'
import type { Reply, RunningService } from '../../support/servers/service.ts'
import { startService } from '../../support/servers/service.ts'
import { hastyFs } from '../../support/disk/hasty-fs.ts'
import { SurfaceClient } from './surface-client.ts'
import type { TestedSurface } from './tested-surface.ts'

interface Row {
  readonly id: string
  readonly created_at: string
}

/** A list endpoint with five rows in view, made a second apart. */
interface Listing {
  readonly name: string
  readonly key: string
  /** In ascending order. */
  readonly rows: readonly Row[]
  readonly isNewestFirst?: boolean
  /** With a window in the body, or in the query string where the endpoint takes filters there. */
  readonly ask: (windowing?: object, inQuery?: Readonly<Record<string, string>>) => Promise<Reply>
}

/** Windowing, the same on every list (interface 2.18): a server of its own, with a clock that ticks. */
export function describeWindowing(surface: TestedSurface): void {
  let service: RunningService | undefined
  let listings: readonly Listing[] = []
  before(async () => {
    let time = Date.parse('2026-01-01T00:00:00Z')
    service = await startService({ fs: hastyFs, now: () => new Date((time += 1000)) })
    const { singular, plural, path } = surface
    const client = new SurfaceClient(surface, () => service as RunningService) // started one line above
    const tags = { set: 'windowed' }
    const artifacts: Row[] = []
    for (let n = 0; n < 5; n++) artifacts.push(await client.artifact({ tags }))
    await client.artifact() // made by another, and never in view
    const { id, variantId, revisions } = await client.made(5)
    const variants = [await client.get(`/variants/${variantId}`)].map((it) => client.record(it, '_variant'))
    for (let n = 0; n < 4; n++) variants.push(await client.variant(id))
    const query = (url: string, scope: object): Pick<Listing, 'ask'> => ({
      ask: (windowing, inQuery = {}) =>
        client.service.post(`${url}?${new URLSearchParams(inQuery).toString()}`, { ...scope, windowing }),
    })
    const inArtifact = { [`${singular}_refs`]: [{ id }] }
    const log = { [singular]: { [`${singular}_variant_id`]: variantId } }
    listings = [
      {
        name: 'artifacts',
        key: plural,
        rows: artifacts,
        ...query(`/${path}/query`, { [singular]: { tags } }),
      },
      {
        name: 'simple',
        key: plural,
        rows: artifacts,
        ...query(`/simple/${path}/query`, { [singular]: { tags } }),
      },
      {
        name: 'variants',
        key: `${singular}_variants`,
        rows: variants,
        ...query(`/${path}/variants/query`, inArtifact),
      },
      {
        name: 'revisions',
        key: `${singular}_revisions`,
        rows: revisions,
        ...query(`/${path}/revisions/query`, inArtifact),
      },
      {
        name: 'log',
        key: `${singular}_revisions`,
        rows: revisions,
        isNewestFirst: true,
        ask: (windowing) => client.post('/revisions/log', { ...log, windowing }),
      },
    ]
  })
  after(() => service?.stop())

  for (const [index, name] of ['artifacts', 'simple', 'variants', 'revisions', 'log'].entries()) {
    const listing = () => listings[index] as Listing // the same five, in the same order
    const idsOf = ({ status, text, body }: Reply): string[] => {
      expect(status, text).to.equal(200)
      const rows: Row[] = body[listing().key]
      expect(body.count).to.equal(rows.length)
      return rows.map(({ id }) => id)
    }
    const ascending = () => listing().rows.map(({ id }) => id)
    const inOrder = (order: string) => (order === 'ascending' ? ascending() : ascending().reverse())
    const at = (n: number) => listing().rows[n]?.created_at ?? ''

    it(`${name}: without a window all rows, by creation`, async () => {
      const { isNewestFirst } = listing()
      const reply = await listing().ask()
      expect(idsOf(reply)).to.deep.equal(inOrder(isNewestFirst ? 'descending' : 'ascending'))
      expect(reply.body).to.not.have.property('windowing')
    })

    // interface 2.18
    it(`${name}: a window without an order is descending`, async () => {
      expect(idsOf(await listing().ask({}))).to.deep.equal(inOrder('descending'))
      const reply = await listing().ask({ limit: 1 })
      expect(idsOf(reply)).to.deep.equal(inOrder('descending').slice(0, 1))
      expect(reply.body.windowing).to.deep.equal({ limit: 1, next: inOrder('descending')[0] })
    })

    for (const order of ['ascending', 'descending']) {
      for (const limit of [1, 2, 5, 9]) {
        // interface 2.18
        it(`${name}: ${order} pages of ${limit} hold every row once, and next is there while more remain`, async () => {
          const seen: string[] = []
          let next: string | undefined
          do {
            const { body, ...reply } = await listing().ask({ limit, order, next })
            const ids = idsOf({ ...reply, body })
            seen.push(...ids)
            const isLast = seen.length === 5
            expect(ids).to.have.length(isLast ? Math.min(limit, 5 - (seen.length - ids.length)) : limit)
            if (isLast) expect(body).to.not.have.property('windowing')
            else expect(body.windowing).to.include({ limit, order, next: ids.at(-1) })
            next = body.windowing?.next
          } while (next !== undefined && seen.length < 20)
          expect(seen).to.deep.equal(inOrder(order))
        })
      }

      it(`${name}: ${order} goes on behind any row`, async () => {
        const [, , middle] = ascending()
        const ids = idsOf(await listing().ask({ order, next: middle }))
        expect(ids).to.deep.equal(inOrder(order).slice(3))
      })
    }

    it(`${name}: time bounds leave out the row they begin at, but not behind a cursor`, async () => {
      const within = async (windowing: object) =>
        idsOf(await listing().ask(windowing)).map((id) => ascending().indexOf(id))
      const [oldest, newest] = [at(1), at(3)]
      expect(await within({ order: 'ascending', oldest, newest })).to.deep.equal([2, 3])
      expect(await within({ order: 'descending', oldest, newest })).to.deep.equal([2, 1])
      const next = ascending()[2]
      expect(await within({ order: 'ascending', oldest: at(3), next })).to.deep.equal([3, 4])
      expect(await within({ order: 'descending', newest: at(1), next })).to.deep.equal([1, 0])
      expect(await within({ newest: '2000-01-01T00:00:00Z' })).to.deep.equal([])
    })

    it(`${name}: bounds and limit count together`, async () => {
      const reply = await listing().ask({ order: 'ascending', oldest: at(0), limit: 2 })
      expect(idsOf(reply)).to.deep.equal(ascending().slice(1, 3))
      expect(reply.body.windowing).to.deep.equal({
        order: 'ascending',
        oldest: at(0),
        limit: 2,
        next: ascending()[2],
      })
    })

    if (name === 'log') continue
    it(`${name}: the window may come in the query string`, async () => {
      const { ask } = listing()
      const reply = await ask(undefined, { limit: '2', order: 'ascending', next: ascending()[0] ?? '' })
      expect(idsOf(reply)).to.deep.equal(ascending().slice(1, 3))
      expect(idsOf(await ask(undefined, { newest: at(2) }))).to.deep.equal(ascending().slice(0, 2).reverse())
    })
  }
}

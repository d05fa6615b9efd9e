import { expect } from 'chai'
import type { SurfaceClient } from './surface-client.ts'
import { pathOf } from './surface-client.ts'
import { singularsOf } from './tested-surface.ts'

/** What a query says in its query string, and beside it in its body (interface 2.10, 2.15, 2.5). */
export function describeQueryStrings(client: SurfaceClient): void {
  const { singular } = client.surface
  const singulars = singularsOf(client.surface)
  type Level = '' | '_variant' | '_revision'
  const levels: readonly Level[] = ['', '_variant', '_revision']
  const ask = async (level: Level, query: string, body?: unknown): Promise<string[]> =>
    client.rows(await client.post(`${pathOf(level)}/query?${query}`, body), level).map(({ id }) => id)
  const idsAt = ({ id, variantId, revisions }: Awaited<ReturnType<typeof client.made>>) => ({
    '': id,
    _variant: variantId,
    _revision: revisions[0].id,
  })

  // interface 2.15
  it('slug and slugs are filters there as in the body', async () => {
    const [one, two, three] = [await client.made(1), await client.made(1), await client.made(1)]
    for (const level of levels) {
      const slugOf = ({ slug }: { readonly slug: string }) => (level === '_revision' ? `${slug}-1` : slug)
      expect(await ask(level, `slug=${slugOf(two)}`)).to.deep.equal([idsAt(two)[level]])
      const several = `slugs=${slugOf(one)}&slugs=${slugOf(three)}`
      expect(await ask(level, several)).to.have.members([idsAt(one)[level], idsAt(three)[level]])
      expect(await ask(level, 'slug=nobody')).to.deep.equal([])
    }
  })

  it('revisions: message, author, authors, date and dates', async () => {
    const { id, revisions } = await client.made(2)
    const [first] = revisions
    const within = (query: string) => ask('_revision', `${singular}_id=${id}&${query}`)
    const author = encodeURIComponent(first.author)
    expect(await within('message=COUNT%201')).to.deep.equal([first.id])
    expect(await within(`author=${author}`)).to.have.length(2)
    expect(await within(`authors=Nobody&authors=${author}`)).to.have.length(2)
    expect(await within('authors=Nobody')).to.deep.equal([])
    expect(await within(`date=${first.date}`)).to.include(first.id)
    expect(await within('dates=2001-01-01T00:00:00Z')).to.deep.equal([])
  })

  it('revisions: each version belongs to the slug of its place', async () => {
    const [one, two] = [await client.made(2), await client.made(2)]
    const key = `${singular}_revision`
    expect(await ask('_revision', `${key}_slug=${one.slug}&${key}_version=2`)).to.deep.equal([
      one.revisions[1].id,
    ])
    const both = `${key}_slugs=${one.slug}&${key}_slugs=${two.slug}&${key}_versions=1&${key}_versions=2`
    expect(await ask('_revision', both)).to.have.members([one.revisions[0].id, two.revisions[1].id])
  })

  it('references take every spelling, and add up over all of them', async () => {
    const made = []
    for (const spelling of singulars) made.push({ spelling, ...(await client.made(0)) })
    const query = made.map(({ spelling, id }) => `${spelling}_id=${id}`).join('&')
    expect(await ask('', query)).to.have.members(made.map(({ id }) => id))
  })

  it('the body wins, whichever spelling either of them uses', async () => {
    const [one, two] = [await client.made(0), await client.made(0)]
    for (const spelling of singulars) {
      expect(await ask('', 'name=nobody', { [spelling]: { slug: one.slug } })).to.deep.equal([one.id])
      for (const other of singulars) {
        const refs = { [`${spelling}_refs`]: [{ slug: one.slug }] }
        expect(await ask('', `${other}_id=${two.id}`, refs)).to.deep.equal([one.id])
      }
    }
  })

  it('a listed reference is read like one by itself: odd keys refused, null as absent, 1.0 as 1', async () => {
    const { slug, revisions } = await client.made(2)
    await client.made(1)
    const key = `${singular}_revision_refs`
    for (const reference of [
      `{"slug":"${slug}","version":1.0}`,
      `{"slug":"${slug}","version":1,"id":null}`,
      `{"7":null,"slug":"${slug}","version":"1"}`,
    ]) {
      const reply = await client.post('/revisions/query', `{"${key}":[${reference}]}`)
      expect(client.rows(reply, '_revision').map(({ id }) => id)).to.deep.equal([revisions[0].id])
    }
    for (const odd of ['7', '__proto__']) {
      const reply = await client.post('/revisions/query', `{"${key}":[{"${odd}":{},"slug":"${slug}"}]}`)
      expect([reply.status, reply.body.errors[0].loc]).to.deep.equal([422, ['body', key, 0, odd]])
    }
  })
}

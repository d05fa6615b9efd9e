import { expect } from 'chai'
import type { SurfaceClient } from './surface-client.ts'
import { freeRoleOf, siblingsOf } from './tested-surface.ts'

/** ETag and conditional reads (interface 2.21). */
export function describeEntityTags(client: SurfaceClient): void {
  const { singular, family } = client.surface
  const siblings = siblingsOf(client.surface)
  const etagOf = ({ headers }: { readonly headers: Headers }): string => headers.get('etag') ?? ''

  // interface 2.21
  it('every answer with a revision has a tag that begins with its id, and may be kept if asked about', async () => {
    const { variantId, revisions } = await client.made(1)
    const replies = [
      await client.get(`/revisions/${revisions[0].id}`),
      await client.retrieve(client.wrap('_variant_ref', { id: variantId })),
      await client.get(`/revisions/retrieve?${singular}_variant_ref.id=${variantId}`),
      await client.commit(variantId, client.payload('next')),
    ]
    for (const reply of replies) {
      const { id } = client.record(reply, '_revision')
      expect(etagOf(reply)).to.match(new RegExp(`^"${id}\\.[^"]+"$`))
      expect(reply.headers.get('cache-control')).to.equal('private, no-cache')
    }
  })

  // interface 2.22
  it('If-None-Match with that tag is a 304 without a body, in every form', async () => {
    const { variantId, revisions } = await client.made(1)
    const ref = client.wrap('_variant_ref', { id: variantId })
    const forms = [
      (headers = {}) => client.get(`/revisions/${revisions[0].id}`, headers),
      (headers = {}) => client.post('/revisions/retrieve', ref, headers),
      (headers = {}) => client.get(`/revisions/retrieve?${singular}_variant_ref.id=${variantId}`, headers),
    ]
    for (const ask of forms) {
      const etag = etagOf(await ask())
      for (const sent of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
        const reply = await ask({ 'if-none-match': sent })
        expect([reply.status, reply.text, etagOf(reply)]).to.deep.equal([304, '', etag])
      }
      expect((await ask({ 'if-none-match': '"other"' })).status).to.equal(200)
    }
  })

  it('the tag of a latest moves with a commit; that of a revision stays', async () => {
    const { variantId, revisions } = await client.made(1)
    const latest = () => client.retrieve(client.wrap('_variant_ref', { id: variantId }))
    const byId = () => client.get(`/revisions/${revisions[0].id}`)
    const [latestBefore, byIdBefore] = [etagOf(await latest()), etagOf(await byId())]
    await client.committed(variantId, client.payload('next'))
    expect(etagOf(await latest())).to.not.equal(latestBefore)
    expect(etagOf(await byId())).to.equal(byIdBefore)
  })

  // interface 2.21
  it('the tag changes whenever the bytes do: with the surface, the form, the artifact and the archiving', async () => {
    const { id, variantId, revisions } = await client.made(1)
    const path = `/revisions/${revisions[0].id}`
    const seen = new Map<string, string>()
    const see = ({ text, headers }: Awaited<ReturnType<typeof client.get>>) => {
      const etag = etagOf({ headers })
      expect(seen.get(etag) ?? text).to.equal(text)
      seen.set(etag, text)
    }
    for (const surface of siblings) see(await client.service.get(`/${surface.path}${path}`))
    see(await client.retrieve(client.wrap('_variant_ref', { id: variantId })))
    const free = freeRoleOf(family)
    await client.put(`/${id}`, client.wrap('', { name: 'Renamed', ...(free && { flags: { [free]: true } }) }))
    see(await client.get(path))
    await client.archive('/revisions', revisions[0].id)
    see(await client.get(path))
    if (family.payload === 'rows') see(await client.get(`${path}?include_testcases=false`))
    expect(seen.size).to.equal(siblings.length + 3 + (family.payload === 'rows' ? 1 : 0))
  })

  it('the same revision has one tag through each variant that shares it', async () => {
    const { variantId } = await client.made(1)
    const fork = client.wrap('_variant', { slug: client.slug('fork') })
    const forked = client.record(
      await client.post('/variants/fork', { ...fork, ...client.wrap('_variant_ref', { id: variantId }) }),
      '_variant',
    )
    const tags = []
    for (const id of [variantId, forked.id])
      tags.push(etagOf(await client.retrieve(client.wrap('_variant_ref', { id }))))
    expect(tags[0]).to.not.equal(tags[1])
  })
}

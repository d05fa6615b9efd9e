import { expect } from 'chai'
import type { Reply, RunningService } from '../../support/servers/service.ts'
import { startService } from '../../support/servers/service.ts'
import { testedSurfaces } from './tested-surface.ts'

const OTHER_ID = '01a1fbb1-f5c2-76ee-83de-4bacd1c878f6'

// Tests look into answers freely; the service has held each against its schema.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Shown = any

/** What the server makes and never changes may come back as it was answered, and nothing else (interface 2.11). */
describe('fields that never change', () => {
  let service: RunningService
  before(async () => (service = await startService()))
  after(() => service.stop())

  let made = 0
  const ok = async (reply: Promise<Reply>): Promise<Shown> => {
    const { status, body, text } = await reply
    expect(status, text).to.equal(200)
    return body
  }
  const expectRefused = ({ status, body, text }: Reply, code: string, place: string): void => {
    expect([status, body.code], text).to.deep.equal([422, code])
    expect(body.errors.map(({ loc }: Shown) => loc.join('.'))).to.deep.equal([place])
  }

  for (const surface of testedSurfaces) {
    const { path, singular, family } = surface
    const key = `${singular}_variant`

    describe(path, () => {
      let slug: string
      let flat: Shown
      before(async () => {
        slug = `fixed-${++made}`
        const created = { [singular]: { slug, name: 'One', data: family.data('Hi') } }
        flat = (await ok(service.post(`/simple/${path}`, created)))[singular]
      })

      const levels = [
        { level: 'artifact', member: singular, at: () => `/${path}/${flat.id}` },
        { level: 'simple', member: singular, at: () => `/simple/${path}/${flat.id}` },
        { level: 'variant', member: key, at: () => `/${path}/variants/${flat.variant_id}` },
      ] as const
      for (const { level, member, at } of levels) {
        // interface 2.12
        it(`${level}: what GET answers is taken by PUT, and says nothing new`, async () => {
          const before = (await ok(service.get(at())))[member]
          const after = (await ok(service.put(at(), { [member]: { ...before, name: 'Two' } })))[member]
          const { updated_at: _a, updated_by_id: _b, name, revision_id: _r, data: _d, ...rest } = after
          expect(name).to.equal('Two')
          expect(before).to.deep.include(rest)
        })

        // interface 4.8
        it(`${level}: another slug is refused, and nothing is changed`, async () => {
          const reply = await service.put(at(), { [member]: { slug: 'another', name: 'Three' } })
          expectRefused(reply, 'slug_is_fixed', `body.${member}.slug`)
          expect(reply.body.detail).to.include('"another"').and.to.include(slug)
          expect((await ok(service.get(at())))[member].name).to.equal('Two')
        })

        // interface 2.11
        it(`${level}: what the server makes is refused with another value`, async () => {
          const others: Readonly<Record<string, unknown>> = {
            created_at: '2020-01-01T00:00:00Z',
            created_by_id: OTHER_ID,
            ...(level === 'variant'
              ? { [`${singular}_id`]: OTHER_ID, artifact_slug: 'another' }
              : { git_url: 'https://example.org/x.git' }),
            ...(level === 'simple' ? {} : { deleted_at: '2020-01-01T00:00:00Z' }),
          }
          for (const [name, value] of Object.entries(others))
            expectRefused(
              await service.put(at(), { [member]: { [name]: value } }),
              'read_only_field',
              `body.${member}.${name}`,
            )
        })

        // interface 2.12
        it(`${level}: what changes by itself is taken, whatever it says`, async () => {
          const changing = {
            updated_at: '2020-01-01T00:00:00Z',
            updated_by_id: OTHER_ID,
            ...(level === 'simple'
              ? {
                  revision_id: OTHER_ID,
                  variant_id: OTHER_ID,
                  version: 7,
                  deleted_at: '2020-01-01T00:00:00Z',
                }
              : {}),
          }
          await ok(service.put(at(), { [member]: { ...changing, name: 'Two' } }))
        })
      }

      it('what is made anew brings none of them', async () => {
        const artifact = { [singular]: { slug: `${slug}-new`, created_at: '2020-01-01T00:00:00Z' } }
        const expected = ['read_only_field', `body.${singular}.created_at`] as const
        expectRefused(await service.post(`/${path}`, artifact), ...expected)
        expectRefused(await service.post(`/simple/${path}`, artifact), ...expected)
        expect((await service.get(`/${path}/${slug}-new`)).status).to.equal(404)
        const fork = { [key]: { slug: `${slug}-x`, artifact_slug: 'another' }, [`${key}_ref`]: { slug } }
        expectRefused(
          await service.post(`/${path}/variants/fork`, fork),
          'read_only_field',
          `body.${key}.artifact_slug`,
        )
        const variant = { [key]: { artifact_id: flat.id, slug: `${slug}-x`, artifact_slug: 'another' } }
        expectRefused(
          await service.post(`/${path}/variants`, variant),
          'read_only_field',
          `body.${key}.artifact_slug`,
        )
        await ok(service.post(`/${path}/variants/fork`, { ...fork, [key]: { artifact_slug: slug } }))
      })

      it('a commit takes what its base says of itself, and refuses anything else', async () => {
        const member = `${singular}_revision`
        const commit = (more: object): Promise<Reply> =>
          service.post(`/${path}/revisions/commit`, {
            [`${member}_commit`]: { ...more, data: family.data('Ho') },
          })
        const {
          slug: _,
          data: _data,
          ...base
        } = (await ok(service.get(`/${path}/revisions/${flat.revision_id}`)))[member]
        const next = (await ok(commit(base)))[member].version
        // It still names the revision that it goes on from.
        expect((await ok(commit(base)))[member].version).to.equal(next + 1)
        const variant = { [`${singular}_variant_id`]: flat.variant_id }
        for (const [name, value] of Object.entries({
          id: OTHER_ID,
          version: 9,
          author: 'Nobody <nobody@example.org>',
          date: '2020-01-01T00:00:00Z',
          variant_slug: 'another',
        }))
          expectRefused(
            await commit({ ...variant, [name]: value }),
            'read_only_field',
            `body.${member}_commit.${name}`,
          )
      })
    })
  }

  it('a first revision without a payload drops none', async () => {
    await ok(service.post('/simple/workflows', { workflow: { slug: 'empty' } }))
    const workflow_revision = { workflow_variant_ref: { slug: 'empty' }, data: { parameters: {} } }
    const reply = await service.post('/workflows/revisions', { workflow_revision })
    expectRefused(reply, 'unknown_field', 'body.workflow_revision.data')
    expect(reply.body.detail).to.include('/workflows/revisions/commit')
  })

  it('roles of an artifact are no other ones on its variants and revisions', async () => {
    const data = { parameters: {} }
    const { variant_id: id } = (
      await ok(service.post('/simple/applications', { application: { slug: 'role', data } }))
    ).application
    const flags = { is_application: false }
    const places = [
      'body.application_variant.flags.is_application',
      'body.application_revision.flags.is_application',
    ]
    const variant = { application_variant: { flags } }
    expectRefused(
      await service.put(`/applications/variants/${id}`, variant),
      'read_only_field',
      places[0] ?? '',
    )
    const commit = { application_revision: { application_variant_id: id, flags, data } }
    expectRefused(
      await service.post('/applications/revisions/commit', commit),
      'read_only_field',
      places[1] ?? '',
    )
  })
})

import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { type RunningService, startService } from '../../support/servers/service.ts'
import { cloneIn, cloneOf, newFolder, remoteOf } from '../../support/git/git-client.ts'
import { create, fsck, refsOf, REMOVABLES, remove, undelete } from '../../support/clients/removal-client.ts'

const DAY = 24 * 60 * 60 * 1000

describe('removal of what was made by mistake', () => {
  let service: RunningService
  let now = Date.parse('2026-03-01T09:00:00Z')
  const trashOf = (slug: string, family = 'workflows'): string =>
    join(service.storeDir, 'default', '.trash', family, `${slug}.git`)

  const shown = (path: string, singular: string, id: string) => shownBy(service, path, singular, id)
  const retrieve = (path: string, body: object) => service.post(`/${path}/revisions/retrieve`, body)

  before(async () => {
    service = await startService({ now: () => new Date((now += 1000)) })
  })
  after(() => service.stop())

  for (const removable of REMOVABLES) {
    const { path, singular, folder } = removable
    describe(path, () => {
      // interface 4.32
      it('lies whole in the trash, answers 404 with trashed_at, and comes back exactly', async () => {
        const slug = `mistake-${singular}`
        const made = await create(service, removable, slug)
        await service.post(`/${path}/variants/`, {
          [`${singular}_variant`]: { [`${singular}_id`]: made.id, slug: `${slug}-b` },
        })
        await service.put(`/simple/${path}/${made.id}`, { [singular]: { name: 'Named' } })
        const clone = await cloneOf(service, slug, { family: folder })
        await clone.git('tag', `${slug}-tag`)
        await clone.git('push', '-q', 'origin', `${slug}-tag`)
        const live = service.repository(slug, folder)
        const before = { refs: refsOf(live), ...(await shown(path, singular, made.id)) }

        const removed = await remove(service, removable, made.id)
        expect(removed.status, removed.text).to.equal(200)
        const { trashed_at: at, until, ...record } = removed.body[singular]
        expect(record).to.deep.equal(before.flat)
        expect(Date.parse(until) - Date.parse(at)).to.equal(30 * DAY)
        expect(existsSync(live)).to.equal(false)
        expect(refsOf(trashOf(slug, folder))).to.equal(before.refs)

        for (const reply of [
          await service.get(`/simple/${path}/${made.id}`),
          await service.get(`/${path}/${made.id}`),
          await service.get(`/${path}/variants/${made.variant_id}`),
          await service.get(`/${path}/revisions/${made.revision_id}`),
          await retrieve(path, { [`${singular}_ref`]: { slug } }),
          await retrieve(path, { [`${singular}_variant_ref`]: { slug } }),
          await retrieve(path, { [`${singular}_revision_ref`]: { slug: `${slug}-tag` } }),
          await retrieve(path, { [`${singular}_revision_ref`]: { slug, version: 1 } }),
          await service.put(`/simple/${path}/${made.id}`, { [singular]: { name: 'Late' } }),
          await service.post(`/simple/${path}/${made.id}/archive`),
          await remove(service, removable, made.id),
        ]) {
          expect(reply.status, reply.text).to.equal(404)
          expect(reply.body).to.include({ trashed_at: at, until })
        }
        const listed = await service.post(`/simple/${path}/query`, { include_archived: true })
        expect(listed.body[path].map((it: any) => it.slug)).to.not.include(slug)
        expect((await service.get('/ready')).body.problems).to.equal(0)
        const trash = await service.get('/trash')
        expect(trash.body.trash[0]).to.include({ kind: singular, id: made.id, slug, trashed_at: at, until })
        const pushed = await clone.try('push', 'origin', 'HEAD:refs/heads/late')
        expect(pushed.code).to.not.equal(0)
        expect(pushed.terminal).to.include('lies in the trash until')
        const fetched = await cloneIn(newFolder()).try('clone', remoteOf(service, slug, folder), '.')
        expect(fetched.terminal).to.include('lies in the trash until')

        const back = await undelete(service, removable, made.id)
        expect(back.status, back.text).to.equal(200)
        expect(back.body[singular]).to.deep.equal(before.flat)
        expect({ refs: refsOf(live), ...(await shown(path, singular, made.id)) }).to.deep.equal(before)
        expect(readdirSync(live)).to.not.include.members(['trashed.json', 'fence.lock'])
        expect(fsck(live)).to.equal('')
        expect((await service.get('/trash')).body.trash.map((it: any) => it.id)).to.not.include(made.id)
        await clone.git('push', '-q', 'origin', `HEAD:refs/heads/${slug}-late`)
        expect((await undelete(service, removable, made.id)).status).to.equal(200)
      })

      it('keeps its id and its slug, and what its other slugs mean alone', async () => {
        const slug = `kept-${singular}`
        const made = await create(service, removable, slug)
        await service.post(`/${path}/variants/`, {
          [`${singular}_variant`]: { [`${singular}_id`]: made.id, slug: `${slug}-second` },
        })
        await service.post(`/${path}/revisions/commit`, {
          [`${singular}_revision_commit`]: {
            [`${singular}_variant_id`]: made.variant_id,
            slug: `${slug}-chosen`,
            data: removable.data,
          },
        })
        const other = await create(service, removable, `other-${singular}`)
        expect((await remove(service, removable, made.id)).status).to.equal(200)
        const again = (fields: object) => service.post(`/simple/${path}/`, { [singular]: fields })
        const variant = (taken: string) =>
          service.post(`/${path}/variants/`, {
            [`${singular}_variant`]: { [`${singular}_id`]: other.id, slug: taken },
          })
        for (const reply of [
          await variant(slug),
          await variant(`${slug}-second`),
          await service.post(`/${path}/revisions/commit`, {
            [`${singular}_revision_commit`]: {
              [`${singular}_variant_id`]: other.variant_id,
              slug: `${slug}-chosen`,
              data: removable.data,
            },
          }),
        ]) {
          expect(reply.status, reply.text).to.equal(200)
          expect(reply.body.warnings.map((it: { code: string }) => it.code)).to.deep.equal(['shadowed_slug'])
          expect(reply.body.warnings[0].message).to.include(`"${slug}", which lies in the trash`)
        }
        for (const reply of [await again({ slug }), await again({ slug: slug.toUpperCase() })]) {
          expect(reply.status, reply.text).to.equal(409)
          expect(reply.body.code).to.equal('slug_taken')
          expect(reply.body.detail).to.match(/lies in the trash until 20/)
          expect(reply.body).to.have.property('until')
        }
        const withId = await service.post(`/simple/${path}/`, {
          [singular]: { slug: `new-${singular}` },
          [`${singular}_id`]: made.id,
        })
        expect(withId.status).to.equal(409)
        expect(withId.body).to.include({ code: 'id_taken' })
        // The default variant of another gets another slug.
        const beside = await again({ slug: `${slug}-second` })
        expect(beside.status, beside.text).to.equal(200)
        expect((await undelete(service, removable, slug)).status).to.equal(200)
      })

      it('goes for good after 30 days, and its slug is free then', async () => {
        const slug = `gone-${singular}`
        const made = await create(service, removable, slug)
        expect((await remove(service, removable, slug)).status).to.equal(200)
        const purge = async (): Promise<void> => {
          // A start looks through the trash; this one is of a second server, over the same folder.
          const second = await startService({ storeDir: service.storeDir, now: () => new Date(now) })
          const isThere = (): boolean => existsSync(trashOf(slug, folder))
          for (let looks = 0; isThere() && looks < 30; looks++) await new Promise((r) => setTimeout(r, 100))
          await second.stop({ keepStore: true })
        }
        const until = Date.parse((await service.get(`/simple/${path}/${made.id}`)).body.until)
        now = until + 1000
        await purge()
        expect(existsSync(trashOf(slug, folder))).to.equal(false)
        const reply = await service.get(`/simple/${path}/${made.id}`)
        expect(reply.status).to.equal(404)
        expect(reply.body).to.not.have.property('trashed_at')
        expect((await undelete(service, removable, made.id)).status).to.equal(404)
        expect((await create(service, removable, slug)).id).to.not.equal(made.id)
      })
    })
  }

  it('removes the environments of the start like others, and does not make them again', async () => {
    const own = await startService()
    const seeded = (await own.post('/simple/environments/query')).body.environments
    for (const { id } of seeded)
      expect((await remove(own, { path: 'environments' }, id)).status).to.equal(200)
    const { storeDir } = own
    await own.stop({ keepStore: true })
    const again = await startService({ storeDir })
    expect((await again.post('/simple/environments/query')).body.count).to.equal(0)
    expect((await undelete(again, { path: 'environments' }, seeded[0].id)).status).to.equal(200)
    expect(statSync(again.repository(seeded[0].slug, 'environments')).isDirectory()).to.equal(true)
    for (const { id } of seeded.slice(1))
      expect((await again.call('DELETE', `/trash/${id}`)).status).to.equal(200)
    await again.stop({ keepStore: true })
    const last = await startService({ storeDir })
    const left = (await last.post('/simple/environments/query')).body.environments
    expect(left.map((it: any) => it.slug)).to.deep.equal([seeded[0].slug])
    await create(last, REMOVABLES[3] as (typeof REMOVABLES)[0], seeded[1].slug) // the environments
    await last.stop()
  })
})

/** What REST shows of an artifact: all of it that must come back. */
async function shownBy(service: RunningService, path: string, singular: string, id: string) {
  const flat = await service.get(`/simple/${path}/${id}`)
  const revision = await service.get(`/${path}/revisions/${flat.body[singular].revision_id}`)
  const log = await service.post(`/${path}/revisions/log`, {
    [`${singular}_revision`]: { [`${singular}_variant_id`]: flat.body[singular].variant_id },
  })
  return {
    flat: flat.body[singular],
    revision: revision.body,
    etag: revision.headers.get('etag'),
    log: log.body,
  }
}

import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { type RunningService, startService } from '../../service.ts'
import { cloneIn, cloneOf, keyWith, newFolder, remoteOf } from '../git/git-client.ts'
import { create, fsck, refsOf, REMOVABLES, remove, undelete } from './removal-client.ts'

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

      it('keeps its id and all its slugs, which nobody else can take meanwhile', async () => {
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
          await again({ slug }),
          await again({ slug: slug.toUpperCase() }),
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

  it('refuses what is or was deployed, embedded, traced, evaluated, watched, or forked, and says by what', async () => {
    const [workflows, testsets] = REMOVABLES
    if (!workflows || !testsets) throw new Error('there are families')
    const application = async (slug: string, data: object = { parameters: { v: 1 } }) =>
      (await service.post('/simple/applications/', { application: { slug, data } })).body.application
    const usersOf = async (id: string, path = 'workflows'): Promise<string[]> => {
      const reply = await remove(service, { path }, id)
      expect(reply.status, reply.text).to.equal(409)
      expect(reply.body.code).to.equal('in_use')
      return reply.body.users.map((it: any) => it.kind)
    }
    // deployed, and undeployed since
    const deployed = await application('deployed')
    const deploy = await service.post('/applications/revisions/deploy', {
      application_revision_ref: { id: deployed.revision_id },
      environment_ref: { slug: 'staging' },
    })
    expect(deploy.status, deploy.text).to.equal(200)
    expect(await usersOf(deployed.id)).to.deep.equal(['deployment'])
    const staging = (
      await service.post('/environments/revisions/retrieve', { environment_ref: { slug: 'staging' } })
    ).body
    const { environment_variant_id: variant, environment_id: stagingId } = staging.environment_revision
    const undeployed = await service.post('/environments/revisions/commit', {
      environment_revision_commit: {
        environment_variant_id: variant,
        delta: { remove: ['deployed.revision'] },
      },
    })
    expect(undeployed.status, undeployed.text).to.equal(200)
    expect(await usersOf(deployed.id)).to.deep.equal(['deployment'])
    expect(await usersOf(stagingId, 'environments')).to.deep.equal(['deployment'])
    // embedded
    const tone = await create(service, workflows, 'tone')
    await create(
      service,
      { ...workflows, data: { parameters: { text: '@{{workflow.slug=tone, path=n}}' } } },
      'speaker',
    )
    expect(await usersOf(tone.id)).to.deep.equal(['embed'])
    // traced, and evaluated
    const script = 'export function evaluate() { return "x" }'
    const code = { uri: 'svc:custom:code:v0', runtime: 'javascript', script, parameters: { version: '3' } }
    const traced = await application('traced', code)
    expect(
      (
        await service.post('/services/invoke', {
          references: { application: { slug: 'traced' } },
          data: { inputs: {} },
        })
      ).status,
    ).to.equal(200)
    expect(await usersOf(traced.id)).to.deep.equal(['trace'])
    const rows = await create(service, testsets, 'rows')
    const run = await service.post('/evaluations/run', {
      testset_ref: { slug: 'rows' },
      application_ref: { slug: 'traced' },
      evaluator_refs: [
        {
          id: (
            await service.post('/simple/evaluators/', {
              evaluator: {
                slug: 'judge',
                template: 'auto_exact_match',
                data: { parameters: { correct_answer_key: 'q' } },
              },
            })
          ).body.evaluator.id,
        },
      ],
      wait: true,
    })
    expect(run.status, run.text).to.equal(200)
    expect(await usersOf(rows.id, 'testsets')).to.include('evaluation')
    // watched
    const watched = await create(service, workflows, 'watched')
    const webhook = {
      url: 'https://hooks.example.org/x',
      events: [],
      filters: { artifacts: [{ slug: 'watched' }] },
    }
    expect((await service.post('/webhooks/', { webhook })).status).to.equal(200)
    expect(await usersOf(watched.id)).to.deep.equal(['webhook'])
    // forked: another artifact went on from its history
    const origin = await create(service, workflows, 'origin')
    await create(service, workflows, 'offspring')
    const clone = await cloneOf(service, 'origin')
    await clone.git('push', '-q', remoteOf(service, 'offspring'), 'HEAD:refs/heads/from-origin')
    expect(await usersOf(origin.id)).to.deep.equal(['fork'])
    for (const id of [deployed.id, tone.id, traced.id, watched.id, origin.id])
      expect((await service.get(`/simple/workflows/${id}`)).status).to.equal(200)
  })

  it('needs the scope write, into a guarded environment deploy, and shows no users to a key without read', async () => {
    const [workflows, , , environments] = REMOVABLES
    if (!workflows || !environments) throw new Error('there are families')
    const as = async (...scopes: Parameters<typeof keyWith>[1][]) => ({
      authorization: `ApiKey ${await keyWith(service, ...(scopes as [never]))}`,
    })
    const made = await create(service, workflows, 'scoped')
    const remover = (path: string, headers: Record<string, string>) =>
      service.call('DELETE', path, undefined, headers)
    expect((await remover(`/simple/workflows/${made.id}`, await as('read'))).status).to.equal(403)
    const guarded = await create(service, environments, 'fenced')
    await service.post(`/simple/environments/${guarded.id}/guard`)
    const refused = await remover(`/simple/environments/${guarded.id}`, await as('read', 'write'))
    expect(refused.body).to.include({ status: 403, code: 'guarded' })
    const deployer = await as('read', 'write', 'deploy')
    expect((await remover(`/simple/environments/${guarded.id}`, deployer)).status).to.equal(200)
    const back = `/simple/environments/${guarded.id}/undelete`
    expect((await service.post(back, {}, await as('read', 'write'))).body.code).to.equal('guarded')
    expect((await service.post(back, {}, deployer)).status).to.equal(200)

    await create(
      service,
      { ...workflows, data: { parameters: { t: '@{{workflow.slug=scoped}}' } } },
      'embeds-scoped',
    )
    const blind = await remover(`/simple/workflows/${made.id}`, await as('write'))
    expect(blind.body.users).to.deep.equal([{ kind: 'embed' }])
    const lonely = await create(service, workflows, 'lonely')
    const withheld = await remover(`/simple/workflows/${lonely.id}`, await as('write'))
    expect(withheld.status).to.equal(200)
    expect(Object.keys(withheld.body.workflow)).to.include.members(['id', 'slug', 'trashed_at'])
    expect(withheld.body.workflow).to.not.have.property('data')
    expect(
      (await service.call('DELETE', `/trash/${lonely.id}`, undefined, await as('write'))).status,
    ).to.equal(403)
    const purged = await service.call('DELETE', `/trash/${lonely.id}`)
    expect(purged.body.trash).to.include({ id: lonely.id, slug: 'lonely' })
    expect((await service.call('DELETE', `/trash/${lonely.id}`)).status).to.equal(404)
    await create(service, workflows, 'lonely')
  })

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
    await again.stop()
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

import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { startProcess, type ServerProcess } from '../evaluations/server-process.ts'
import { cloneOf, runGit } from '../../support/git/git-client.ts'
import { type RunningService, startService } from '../../support/servers/service.ts'
import { create, fsck, REMOVABLES, remove, undelete } from '../../support/clients/removal-client.ts'

const [workflows] = REMOVABLES as [(typeof REMOVABLES)[0]] // the first of four

describe('removal on a store that several servers share', () => {
  let storeDir: string
  let service: RunningService
  let other: ServerProcess

  before(async () => {
    storeDir = mkdtempSync(join(tmpdir(), 'branchpoint-removal-'))
    service = await startService({ storeDir })
    other = await startProcess(storeDir)
  })
  after(async () => {
    await other.end('SIGKILL')
    await service.stop({ keepStore: true })
    rmSync(storeDir, { recursive: true, force: true })
  })

  const trashOf = (slug: string): string => join(storeDir, 'default', '.trash', 'workflows', `${slug}.git`)
  const commitOf = (variant: string, message: string) => ({
    workflow_revision_commit: { workflow_variant_id: variant, message, data: { parameters: { message } } },
  })

  it('is seen by every other at once, and so is its end', async () => {
    const made = await create(service, workflows, 'shared')
    const seen = async (): Promise<number> =>
      (await other.call('POST', '/workflows/revisions/retrieve', { workflow_ref: { slug: 'shared' } })).status
    expect(await seen()).to.equal(200)
    await remove(service, workflows, made.id)
    expect(await seen()).to.equal(404)
    const read = await other.call('GET', `/simple/workflows/${made.id}`)
    expect(read.status).to.equal(404)
    expect(read.body).to.have.property('trashed_at')
    const listed = await other.call('POST', '/simple/workflows/query')
    expect(listed.body.workflows.map((it: any) => it.slug)).to.not.include('shared')
    const taken = await other.call('POST', '/simple/workflows/', { workflow: { slug: 'shared' } })
    expect(taken.body).to.include({ status: 409, code: 'slug_taken' })
    const late = await other.call('POST', '/workflows/revisions/commit', commitOf(made.variant_id, 'late'))
    expect(late.status).to.equal(404)
    expect((await other.call('POST', `/simple/workflows/${made.id}/undelete`)).status).to.equal(200)
    expect((await service.get(`/simple/workflows/${made.id}`)).status).to.equal(200)
    const commit = await service.post('/workflows/revisions/commit', commitOf(made.variant_id, 'later'))
    expect(commit.body.workflow_revision.version).to.equal(2)
    expect(await seen()).to.equal(200)
  })

  it('loses no write that was answered: commits, pushes and forks of both that race with it', async () => {
    for (let round = 0; round < 4; round++) {
      const slug = `race-${round}`
      const made = await create(service, workflows, slug)
      const clone = await cloneOf(service, slug)
      await clone.commit('pushed')
      const answered: string[] = []
      const strange: unknown[] = []
      let isOver = false
      const note = (status: number, id: string | undefined, text: unknown): void => {
        if (status === 200 && id) answered.push(id)
        else if (status === 404 || status === 409) isOver = true
        else strange.push(text)
      }
      const commits = [0, 1].map(async (server) => {
        for (let n = 0; !isOver; n++) {
          const body = commitOf(made.variant_id, `${server}-${n}`)
          const path = '/workflows/revisions/commit'
          const { status, body: got } =
            server === 0 ? await service.post(path, body) : await other.call('POST', path, body)
          note(status, got.workflow_revision?.id, got)
        }
      })
      const fork = other
        .call('POST', '/workflows/variants/fork', {
          workflow_variant: { slug: `${slug}-fork` },
          workflow_ref: { slug },
        })
        .then(({ status, body }) => note(status, body.workflow_variant && made.revision_id, body))
      const push = clone.try('push', '-q', 'origin', `HEAD:refs/heads/${slug}-pushed`)
      while (answered.length < 3 + round) await new Promise((resolve) => setImmediate(resolve))
      const removed = await remove(service, workflows, made.id)
      expect(removed.status, removed.text).to.equal(200)
      await Promise.all([...commits, fork])
      const { code } = await push
      expect(strange).to.deep.equal([])
      expect(existsSync(service.repository(slug)), 'a shell of it').to.equal(false)
      expect((await undelete(service, workflows, made.id)).status).to.equal(200)
      expect(fsck(service.repository(slug))).to.equal('')
      const log = await other.call('POST', '/workflows/revisions/log', {
        workflow_revision: { workflow_variant_id: made.variant_id },
      })
      expect(log.body.workflow_revisions.map((it: any) => it.id)).to.include.members(answered)
      const refs = await runGit(service.repository(slug), ['for-each-ref', '--format=%(refname)'])
      if (code === 0) expect(refs.output).to.include(`refs/heads/${slug}-pushed`)
    }
  })

  it('comes before a deployment, of the artifact or to the environment, or is refused after it', async () => {
    const [, , , environments] = REMOVABLES
    for (let round = 0; round < 12; round++) {
      const application = await create(service, workflows, `deployed-${round}`)
      const { body } = await service.post('/simple/environments/', {
        environment: { slug: `target-${round}` },
      })
      const deploying = other.call('POST', '/workflows/revisions/deploy', {
        workflow_revision_ref: { id: application.revision_id },
        environment_ref: { slug: `target-${round}` },
      })
      // One of both is removed, at another moment of the deployment each time.
      await new Promise((resolve) => setTimeout(resolve, round % 6))
      const removed =
        round % 2 === 0
          ? await remove(service, workflows, application.id)
          : await remove(service, environments ?? workflows, body.environment.id)
      const deployed = await deploying
      expect([200, 404, 409], JSON.stringify(deployed.body)).to.include(deployed.status)
      expect([200, 409], removed.text).to.include(removed.status)
      expect(deployed.status === 200, `${deployed.status} and ${removed.status}`).to.equal(
        removed.status === 409,
      )
    }
  })

  it('is done or not, and undone or not, when a server is killed in the midst of many', async () => {
    const made = await Promise.all(
      Array.from({ length: 12 }, (_, n) => create(service, workflows, `killed-${n}`)),
    )
    const removed = new Set<string>()
    const kill = async (sent: Promise<unknown>[], when: () => boolean): Promise<void> => {
      while (!when()) await new Promise((resolve) => setImmediate(resolve))
      await other.end('SIGKILL')
      await Promise.all(sent)
      other = await startProcess(storeDir)
    }
    const send = (method: string, path: string, done: (id: string) => void): Promise<unknown>[] =>
      made.map(({ id }) =>
        other.call(method, path.replace('ID', id)).then(
          ({ status }) => void (status === 200 && done(id)),
          () => undefined, // it died
        ),
      )
    await kill(
      send('DELETE', '/simple/workflows/ID', (id) => removed.add(id)),
      () => removed.size >= 4,
    )
    const back = new Set<string>()
    const isThere = async (id: string): Promise<boolean> => {
      const reply = await service.get(`/simple/workflows/${id}`)
      if (reply.status === 404) expect(reply.body).to.have.property('trashed_at')
      else expect(reply.status, reply.text).to.equal(200)
      return reply.status === 200
    }
    for (const { id, slug } of made) {
      const there = await isThere(id)
      if (removed.has(id)) expect(there).to.equal(false)
      expect([existsSync(service.repository(slug)), existsSync(trashOf(slug))]).to.deep.equal([there, !there])
    }
    await kill(
      send('POST', '/simple/workflows/ID/undelete', (id) => back.add(id)),
      () => back.size >= 4,
    )
    for (const { id, slug, variant_id: variant } of made) {
      if (back.has(id)) expect(await isThere(id)).to.equal(true)
      expect((await undelete(service, workflows, id)).status).to.equal(200)
      const commit = await service.post('/workflows/revisions/commit', commitOf(variant, 'after'))
      expect(commit.body.workflow_revision.version).to.equal(2)
      expect(fsck(service.repository(slug))).to.equal('')
    }
    expect((await service.get('/ready')).body).to.include({ problems: 0 })
  })
})

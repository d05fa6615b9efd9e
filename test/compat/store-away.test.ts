import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import type { Reply, RunningService } from '../support/servers/service.ts'
import { startService } from '../support/servers/service.ts'
import { makeSpan } from '../support/values/make-span.ts'

/** Longer than any background work of a server rests. */
const ROUNDS = 2500

describe('compat: the store goes away under a running server', () => {
  let service: RunningService
  let away: string
  beforeEach(async () => {
    service = await startService()
    away = `${service.storeDir}-away`
    await commit(service, 'bot')
    await service.post('/webhooks/', { webhook: { name: 'w', url: 'https://example.com/x', events: [] } })
  })
  afterEach(async () => {
    await service.stop()
    rmSync(away, { recursive: true, force: true })
  })

  it('answers 503 and makes nothing in its place; what was acknowledged is there when it is back', async () => {
    const load = startLoad(service)
    await load.some(10)
    renameSync(service.storeDir, away)
    await expectGone(service)
    expect(load.isStopped()).to.equal(false)
    await pause(ROUNDS)
    expect(existsSync(service.storeDir)).to.equal(false)
    // What a volume leaves when it drops: an empty folder to mount it on.
    mkdirSync(service.storeDir)
    await expectGone(service)
    await pause(ROUNDS)
    expect(readdirSync(service.storeDir)).to.deep.equal([])
    rmSync(service.storeDir, { recursive: true })
    renameSync(away, service.storeDir)
    await untilServed(service)
    const written = load.count()
    await load.some(written + 10)
    const acknowledged = await load.stop()
    await expectThere(service, acknowledged)
    await service.stop({ keepStore: true })
    service = await startService({ storeDir: service.storeDir })
    await expectThere(service, acknowledged)
  })

  it('touches no other store in its place, and keeps traces until it is back', async () => {
    service.traces.record([makeSpan()])
    await service.traces.stored()
    await settled(service)
    const other = `${service.storeDir}-other`
    cpSync(service.storeDir, other, { recursive: true })
    renameSync(service.storeDir, away)
    renameSync(other, service.storeDir)
    const before = contentOf(service.storeDir)
    await expectGone(service)
    const late = makeSpan()
    service.traces.record([late])
    await service.traces.stored()
    await service.traces.retain()
    await pause(ROUNDS)
    const after = contentOf(service.storeDir)
    const changed = Object.keys({ ...before, ...after }).filter((path) => before[path] !== after[path])
    expect(changed).to.deep.equal([])
    rmSync(service.storeDir, { recursive: true })
    renameSync(away, service.storeDir)
    await untilServed(service)
    expect((await commit(service, 'later')).status).to.equal(200)
    expect(await service.traces.read([late.traceId])).to.have.length(1)
  })

  it('does again what was acknowledged and went with the volume before it was synced', async () => {
    const { body } = await commit(service, 'bot')
    const { id } = body.workflow_revision
    renameSync(service.storeDir, away)
    await expectGone(service)
    // As a disk does that drops: it forgets what was not synced, the branch and the pack.
    const gitdir = join(away, 'default/workflows/bot.git')
    rmSync(join(gitdir, 'refs/heads/bot'), { force: true })
    const packs = readdirSync(join(gitdir, 'objects/pack')).map((name) => join(gitdir, 'objects/pack', name))
    const newest = packs.map((path) => statSync(path).mtimeMs).sort((a, b) => b - a)[0] ?? 0
    for (const path of packs) if (statSync(path).mtimeMs >= newest - 5) rmSync(path)
    renameSync(away, service.storeDir)
    await untilServed(service)
    expect((await service.get(`/workflows/revisions/${id}`)).status).to.equal(200)
  })

  it('stops where a newer server has changed the format, and says so', async () => {
    const path = join(service.storeDir, 'format')
    const before = readFileSync(path)
    writeFileSync(`${path}.new`, '7\n')
    renameSync(path, `${path}.old`)
    renameSync(`${path}.new`, path)
    const { reason } = await expectGone(service)
    expect(reason).to.contain('has format "7" now')
    renameSync(`${path}.old`, path)
    await untilServed(service)
    writeFileSync(path, '7\n')
    expect((await expectGone(service)).reason).to.contain('has format "7" now')
    writeFileSync(path, before)
    await untilServed(service)
  })

  it('is not made anew where somebody removes it', async () => {
    renameSync(service.storeDir, away)
    rmSync(away, { recursive: true })
    await expectGone(service)
    await pause(ROUNDS)
    expect(existsSync(service.storeDir)).to.equal(false)
  })
})

/** A commit to the workflow of this slug, which is made if need be. */
async function commit(service: RunningService, slug: string): Promise<Reply> {
  const made = await service.post('/simple/workflows/', { workflow: { slug, data: { parameters: {} } } })
  if (made.status !== 409) return made
  const { body } = await service.post('/workflows/variants/query', { workflow_variant_refs: [{ slug }] })
  return service.post('/workflows/revisions/commit', {
    workflow_revision_commit: {
      workflow_variant_id: body.workflow_variants[0].id,
      message: 'More',
      data: { parameters: {} },
    },
  })
}

async function expectGone(service: RunningService): Promise<{ readonly reason: string }> {
  const asked = [
    service.post('/simple/workflows/', { workflow: { data: { parameters: {} } } }),
    service.post('/workflows/query'),
    service.post('/workflows/revisions/retrieve', { workflow_ref: { slug: 'bot' } }),
    service.post('/simple/testsets/upload', uploadOf('a,b\n1,2\n')),
    service.post('/traces/query'),
    service.post('/evaluations/query'),
    service.post('/webhooks/query'),
    service.get('/git/workflows/bot.git/info/refs?service=git-upload-pack'),
    service.post('/workflows/query', {}, { authorization: 'ApiKey nobody-has-this' }),
  ]
  for (const { status, text, headers } of await Promise.all(asked)) {
    expect(status, text).to.equal(503)
    expect(headers.get('retry-after')).to.equal('1')
  }
  const { status, body } = await service.get('/ready')
  expect([status, body.status]).to.deep.equal([503, 'unavailable'])
  expect((await service.get('/health')).status).to.equal(200)
  return body
}

function uploadOf(csv: string): FormData {
  const form = new FormData()
  form.set('file', new Blob([csv]), 'rows.csv')
  return form
}

async function untilServed(service: RunningService): Promise<void> {
  for (let left = 100; left > 0; left--) {
    if ((await service.get('/ready')).status === 200) return
    await pause(100)
  }
  throw new Error('the store is back, and not served')
}

/** Waits until nothing is left to be synced. */
async function settled({ storeDir }: RunningService): Promise<void> {
  await pause(ROUNDS)
  expect(existsSync(storeDir)).to.equal(true)
}

async function expectThere(service: RunningService, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    const { status, text } = await service.get(`/workflows/revisions/${id}`)
    expect(status, text).to.equal(200)
  }
}

interface Load {
  count(): number
  isStopped(): boolean
  some(count: number): Promise<void>
  /** The ids of all revisions that were acknowledged. */
  stop(): Promise<readonly string[]>
}

/** Four who create workflows one after the other, whatever comes of it. */
function startLoad(service: RunningService): Load {
  const ids: string[] = []
  let stopped = false
  const one = async (): Promise<void> => {
    while (!stopped) {
      const { status, body, text } = await service.post('/simple/workflows/', {
        workflow: { data: { parameters: {} } },
      })
      if (status === 200) ids.push(body.workflow.revision_id)
      else expect(status, text).to.equal(503)
      if (status !== 200) await pause(20)
    }
  }
  const running = Promise.all([one(), one(), one(), one()])
  running.catch(() => (stopped = true))
  return {
    count: () => ids.length,
    isStopped: () => stopped,
    some: async (count) => {
      while (ids.length < count && !stopped) await pause(5)
    },
    stop: async () => {
      stopped = true
      await running
      return ids
    },
  }
}

/** Every file and what is in it. */
function contentOf(folder: string): Record<string, string> {
  const content: Record<string, string> = {}
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    content[path] = entry.isFile() ? readFileSync(path, 'base64') : 'folder'
  }
  return content
}

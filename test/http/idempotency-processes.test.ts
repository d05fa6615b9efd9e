import { expect } from 'chai'
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { v5 as uuidv5 } from 'uuid'
import { git } from '../support/git/git-program.ts'
import type { Reply, RunningService } from '../support/servers/service.ts'
import { ADMIN_KEY, startService } from '../support/servers/service.ts'
import { commitOf, made } from './keyed-operations.ts'

const MAIN = fileURLToPath(new URL('../../src/main.js', import.meta.url))

interface Deployed {
  readonly workflow_revision?: { readonly version: number }
}

interface ServerProcess {
  readonly url: string
  readonly process: ChildProcess
}

describe('Idempotency-Key across server processes', () => {
  let storeDir: string
  let service: RunningService
  let variant: string
  const children: ChildProcess[] = []
  let refused: Promise<Reply>

  before(() => {
    // Begun here, so that the other tests pass its time.
    refused = askForHeldKey()
  })
  beforeEach(async () => {
    storeDir = mkdtempSync(join(tmpdir(), 'branchpoint-keyed-'))
    service = await startService({ storeDir })
    variant = (await made(service, 'bot')).variant_id
  })
  afterEach(async () => {
    for (const child of children.splice(0)) child.kill('SIGKILL')
    await service.stop({ keepStore: true })
    rmSync(storeDir, { recursive: true, force: true })
  })

  async function spawnServer(): Promise<ServerProcess> {
    const env = { ...process.env, PORT: '0', STORE_DIR: storeDir, SVC_API_KEY: ADMIN_KEY, LOG_LEVEL: 'info' }
    const child = spawn(process.execPath, [MAIN], { env, stdio: ['ignore', 'pipe', 'inherit'] })
    children.push(child)
    const [line] = await once(createInterface(child.stdout), 'line')
    return { url: JSON.parse(line).url, process: child }
  }

  const headersWith = (key: string) => ({
    authorization: `ApiKey ${ADMIN_KEY}`,
    'content-type': 'application/json',
    'idempotency-key': key,
  })

  /** The answer's status and revision id. */
  async function commit(url: string, key: string): Promise<{ status: number; id: string; version: number }> {
    const response = await fetch(`${url}/workflows/revisions/commit`, {
      method: 'POST',
      headers: headersWith(key),
      body: JSON.stringify(commitOf(variant, { message: key })),
    })
    const body = (await response.json()) as { workflow_revision?: { id: string; version: number } }
    return { status: response.status, ...{ id: '', version: 0 }, ...body.workflow_revision }
  }

  const countOfCommits = () => git(service.repository('bot'), ['rev-list', '--count', 'bot'])

  it('makes one commit of requests that reach both at once', async () => {
    const other = await spawnServer()
    const keys = Array.from({ length: 5 }, (_, number) => `both ${number}`)
    const sent = keys.flatMap((key) =>
      [service.url, other.url, service.url, other.url].map((url) => ({ url, key })),
    )
    const replies = await Promise.all(
      sent.map(async ({ url, key }) => ({ key, ...(await commit(url, key)) })),
    )
    for (const key of keys) {
      const ids = replies.filter((reply) => reply.key === key).map(({ id }) => id)
      expect(new Set(ids).size, ids.join()).to.equal(1)
    }
    expect(countOfCommits()).to.equal('6')
  })

  it('makes one deployment of requests that reach both at once', async () => {
    const other = await spawnServer()
    for (let version = 2; version <= 4; version++) await commit(service.url, `version ${version}`)
    const sent = [2, 3, 4].flatMap((version) =>
      [service.url, other.url, service.url, other.url].map((url) => ({ url, version })),
    )
    const replies = await Promise.all(
      sent.map(async ({ url, version }) => {
        const body = { workflow_revision_ref: { slug: 'bot', version }, environment_ref: { slug: 'staging' } }
        const response = await fetch(`${url}/workflows/revisions/deploy`, {
          method: 'POST',
          headers: headersWith(`deploy ${version}`),
          body: JSON.stringify(body),
        })
        const { workflow_revision } = (await response.json()) as Deployed
        return [response.status, workflow_revision?.version]
      }),
    )
    expect(replies).to.deep.equal(sent.map(({ version }) => [200, version]))
    const environment = service.repository('staging', 'environments')
    expect(git(environment, ['rev-list', '--count', 'staging'])).to.equal('3')
  })

  it('makes one commit of every request, whatever a killed process had done of them', async () => {
    const doomed = await spawnServer()
    const keys: string[] = []
    const answered = new Map<string, string>()
    // Goes on until it gets no answer, so that every one of them is cut off in a request.
    const client = async (): Promise<void> => {
      const key = `doomed ${keys.length}`
      keys.push(key)
      const reply = await commit(doomed.url, key).catch(() => undefined)
      if (reply === undefined) return
      expect(reply.status).to.equal(200)
      answered.set(key, reply.id)
      if (answered.size === 10) doomed.process.kill('SIGKILL')
      return client()
    }
    await Promise.all(Array.from({ length: 20 }, client))
    expect(answered.size).to.be.at.least(10)
    const replies = []
    for (const key of keys) replies.push({ key, ...(await commit(service.url, key)) })
    for (const { key, status, id } of replies)
      expect([status, id], key).to.deep.equal([200, answered.get(key) ?? id])
    expect(new Set(replies.map(({ version }) => version)).size).to.equal(keys.length)
    expect(countOfCommits()).to.equal(`${keys.length + 1}`)
  })

  it('is refused with 503 and Retry-After while a process elsewhere holds the key', async () => {
    const { status, body, headers } = await refused
    expect([status, body.code, headers.get('retry-after')]).to.deep.equal([503, 'locked', '1'])
  })

  /** A request whose key a process of another host has locked; answered after a patience of seconds. */
  async function askForHeldKey(): Promise<Reply> {
    const waiting = await startService()
    const folder = join(waiting.storeDir, 'default/idempotency')
    const credential = uuidv5('branchpoint:SVC_API_KEY', uuidv5.URL)
    const name = createHash('sha256').update(`${credential}\nheld`).digest('hex')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, `${name}.lock`), '')
    const reply = await waiting.post('/workflows', { workflow: {} }, { 'idempotency-key': 'held' })
    await waiting.stop()
    return reply
  }
})

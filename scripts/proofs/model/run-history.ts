import { memoryFs } from '../../../src/storage/memory-fs.ts'
import { strict as assert } from 'node:assert'
import { inspect } from 'node:util'
import type { Fs } from '../../../src/storage/files/fs.ts'
import type { Reply, RunningService } from '../../../test/support/servers/service.ts'
import { startService } from '../../../test/support/servers/service.ts'
import type { Planned, Told } from './expectation.ts'
import { STATUS, refused } from './expectation.ts'
import { planStep } from './plan/plan-step.ts'
import type { ModelState } from './state/model-state.ts'
import { wholeState } from './state/whole-state.ts'
import type { Step, Upkeep } from './step.ts'

/** Where the service says it is, so that every server over a store answers the same urls. */
const PUBLIC_URL = 'https://registry.example'
const START = Date.parse('2026-03-01T09:30:00.500Z')

export interface HistoryOptions {
  readonly fs: Fs
  readonly storeDir: string
  /** How many servers share the store while the history runs. */
  readonly servers: number
  /** What the git program does to a repository while the servers run. */
  readonly keepHouse?: (state: ModelState, upkeep: Upkeep, pick: number) => void
  /** What is done to the store between the last server that ran the history and the first one that reads it again. */
  readonly between?: (state: ModelState) => void
  /** Ids under which the last server must find no revision. */
  readonly unknownRevisions?: (state: ModelState) => readonly string[]
}

export interface HistoryOutcome {
  readonly state: ModelState
  /** Answers that were compared. */
  readonly requests: number
}

/**
 * Runs a history against the service and the model side by side and compares every answer field by field; then asks for
 * everything there is, starts another server over the same store, and asks it the same: its index is made from scratch.
 */
export async function runHistory(steps: readonly Step[], options: HistoryOptions): Promise<HistoryOutcome> {
  const clock = { ms: START }
  const start = () =>
    startService({
      fs: options.fs,
      storeDir: options.storeDir,
      env: { PUBLIC_URL },
      now: () => new Date(clock.ms),
    })
  const servers: RunningService[] = []
  try {
    for (let count = 0; count < options.servers; count++) servers.push(await start())
    const state: ModelState = { artifacts: [], actor: await learnActor(), publicUrl: PUBLIC_URL, clock }
    const asker = new Asker()
    for (const step of steps) {
      clock.ms += step.kind === 'fork' ? Math.max(1, step.wait) : step.wait
      const index = step.server % servers.length
      if (step.upkeep) options.keepHouse?.(state, step.upkeep, step.server)
      if (step.restart) {
        await servers[index]?.stop({ keepStore: true })
        servers[index] = await start()
      }
      await asker.ask(pickServer(servers, index), planStep(state, step))
    }
    const live: string[] = []
    for (const planned of wholeState(state))
      live.push((await asker.ask(pickServer(servers, 0), planned)).text)
    await stopAll(servers)
    options.between?.(state)
    const rebuilt = await start()
    servers.push(rebuilt)
    for (const [index, planned] of wholeState(state).entries()) {
      assert.equal(
        (await asker.ask(rebuilt, planned)).text,
        live[index],
        'a rebuilt index answers as the live one',
      )
    }
    for (const id of options.unknownRevisions?.(state) ?? []) {
      const request = { method: 'GET' as const, path: `/workflows/revisions/${id}` }
      await asker.ask(rebuilt, { request, expected: refused('revision_not_found') })
    }
    return { state, requests: asker.asked }
  } finally {
    await stopAll(servers)
  }
}

/** Sends requests, and holds what comes back against what the model expects and against what was answered before. */
class Asker {
  readonly #log: string[] = []
  readonly #tagged = new Map<string, string>()

  /** How many answers were compared. */
  get asked(): number {
    return this.#log.length
  }

  async ask(server: RunningService, { request, expected }: Planned): Promise<Reply> {
    const { method, path, body, rawData, headers } = request
    const text = body && JSON.stringify(body).replace('"@data@"', () => rawData ?? '')
    this.#log.push(`${method} ${path} ${text ?? ''} ${inspect(headers ?? {})}`)
    const reply = await server.call(method, path, text, headers)
    try {
      if ('refused' in expected) {
        const code = expected.refused.find((it) => it === reply.body?.code)
        assert.ok(code, `refused as ${expected.refused.join(' or ')}`)
        assert.equal(reply.status, STATUS[code])
      } else {
        assert.equal(reply.status, 200)
        const { warnings = [], ...body } = reply.body
        assertOneOf(withoutSubjects(body), expected.answer(reply.body))
        assertTold(warnings, expected.warnings?.() ?? [])
        if (expected.exact !== undefined)
          assert.ok(reply.text.includes(expected.exact), 'the payload is exact')
        await this.#checkTag(server, request, reply)
      }
    } catch (error) {
      const story = this.#log.slice(-25).join('\n')
      const answer = `${reply.status} ${reply.text}`
      throw new Error(`${String(error)}\n\nafter\n${story}\n\nwhich answered\n${answer}`, { cause: error })
    }
    return reply
  }

  /** An entity tag stands for the very bytes of an answer, and is enough to be spared them (interface 2.21). */
  async #checkTag(
    server: RunningService,
    { method, path, body }: Planned['request'],
    reply: Reply,
  ): Promise<void> {
    const tag = reply.headers.get('etag')
    const isRead = method === 'GET' || path.endsWith('/retrieve')
    if (tag === null || !isRead) return
    const form = `${method} ${path.replace(/\?.*$/, '').replace(/[0-9a-f-]{36}$/, '')} ${tag}`
    assert.equal(this.#tagged.get(form) ?? reply.text, reply.text, `the bytes behind ${tag}`)
    this.#tagged.set(form, reply.text)
    const again = await server.call(method, path, body, { 'if-none-match': tag })
    assert.equal(again.status, 304)
    assert.equal(again.text, '')
  }
}

function assertOneOf(actual: unknown, accepted: readonly object[]): void {
  for (const body of accepted.slice(1)) {
    try {
      return assert.deepStrictEqual(actual, body)
    } catch {
      // another one may be it
    }
  }
  assert.deepStrictEqual(actual, accepted[0])
}

function pickServer(servers: readonly RunningService[], pick: number): RunningService {
  const server = servers[pick % servers.length]
  if (!server) throw new Error('a history needs a server')
  return server
}

async function stopAll(servers: RunningService[]): Promise<void> {
  for (const server of servers.splice(0)) await server.stop({ keepStore: true })
}

/** The answer without the subjects of revisions, each of which is one line: of the message, or made where there is none. */
function withoutSubjects(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSubjects)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value)
  const { subject, message } = value as { readonly subject?: unknown; readonly message?: unknown }
  const isRevision = typeof subject === 'string' && 'version' in value
  if (isRevision) assertSubject(subject, typeof message === 'string' ? message : '')
  return Object.fromEntries(
    members
      .filter(([key]) => !isRevision || key !== 'subject')
      .map(([key, member]) => [key, withoutSubjects(member)]),
  )
}

function assertSubject(subject: string, message: string): void {
  const [said = ''] = message.trimStart().split(/\n[ \t\r]*\n/)
  if (said.trim() === '') return assert.match(subject, /^.{1,72}$/)
  const wordsOf = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()
  assert.equal(wordsOf(subject), wordsOf(said))
}

function assertTold(
  warnings: readonly { readonly code: string; readonly message: string }[],
  told: readonly Told[],
): void {
  assert.deepEqual(
    warnings.map(({ code }) => code),
    told.map(({ code }) => code),
    'the warnings',
  )
  for (const [index, { says }] of told.entries())
    assert.ok(warnings[index]?.message.includes(says), `the warning says ${says}`)
}

let known: Promise<ModelState['actor']> | undefined

/** Who the admin key of a test service is, as records tell it; asked once, of a store of its own. */
function learnActor(): Promise<ModelState['actor']> {
  known ??= ask()
  return known
}

async function ask(): Promise<ModelState['actor']> {
  const service = await startService({ fs: memoryFs(), storeDir: '/store' })
  try {
    const created = await service.post('/simple/workflows/', { workflow: { data: {} } })
    const revision = await service.get(`/workflows/revisions/${created.body.workflow.revision_id}`)
    const { author } = revision.body.workflow_revision
    if (!/^\S.* <\S+@\S+>$/.test(author)) throw new Error(`the author ${author} is not Name <email>`)
    return { id: created.body.workflow.created_by_id, author }
  } finally {
    await service.stop({ keepStore: true })
  }
}

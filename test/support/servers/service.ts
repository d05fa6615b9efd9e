import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { readConfig } from '../../../src/config.ts'
import type { Fs } from '../../../src/storage/files/fs.ts'
import { nodeFs } from '../../../src/storage/files/node-fs.ts'
import { normalisePath } from '../../../src/http/request.ts'
import type { Endpoint } from '../../../src/http/routing/endpoint.ts'
import { openLogger } from '../../../src/http/logger.ts'
import { start } from '../../../src/server/start.ts'
import type { ProjectTraces } from '../../../src/feeds/traces/project-traces.ts'
import { type Answer, Asker } from './ask.ts'
import { forgetStore, storeOf } from './test-store.ts'

/** An answer of the service: status, headers, and the parsed body (undefined if empty or not JSON). */
export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // Tests look into answers freely; every 200 has been held against its schema before they do.
  readonly body: any
}

export interface RunningService {
  readonly url: string
  readonly storeDir: string
  /** The traces of the project that the admin key is of. */
  readonly traces: ProjectTraces
  /** The folder of an artifact's repository; of a workflow's unless `family` names another folder of the project. */
  repository(slug: string, family?: string): string
  /**
   * Sends a request with the admin key (or `headers`) and checks a 200 against the endpoint's own schema. A body that is text
   * or a form is sent as it is, any other as JSON.
   */
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Reply>
  post(path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Reply>
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Reply>
  put(path: string, body: unknown): Promise<Reply>
  /** Stops the server and removes the store, unless `keepStore`. */
  stop(options?: { readonly keepStore?: boolean }): Promise<void>
}

export interface ServiceOptions {
  readonly env?: Readonly<Record<string, string>>
  /** An existing store; a new temporary folder otherwise. */
  readonly storeDir?: string
  readonly fs?: Fs
  readonly now?: () => Date
}

/** The admin key of every test service. */
export const ADMIN_KEY = 'test-admin-key'

/** Starts the real server on a free port over a real folder. */
export async function startService(options: ServiceOptions = {}): Promise<RunningService> {
  const storeDir = options.storeDir ?? mkdtempSync(join(tmpdir(), 'branchpoint-'))
  const config = readConfig({
    PORT: '0',
    STORE_DIR: storeDir,
    SVC_API_KEY: ADMIN_KEY,
    LOG_LEVEL: 'silent',
    ...(options.fs || storeDir === ':memory:' ? {} : await storeOf(storeDir)),
    ...options.env,
  })
  const log = openLogger(config.logLevel)
  const now = options.now ?? (() => new Date())
  const service = await start({ config, fs: options.fs ?? nodeFs, log, now })
  const { url } = service.server
  const asker = new Asker()
  const call: RunningService['call'] = async (method, path, body, headers = {}) => {
    const isForm = body instanceof FormData
    const contentType: Record<string, string> = isForm ? {} : { 'content-type': 'application/json' }
    const sent = { authorization: `ApiKey ${ADMIN_KEY}`, ...contentType, ...headers }
    const answer = isForm
      ? await fetchAnswer(url + path, { method, headers: sent, body })
      : await asker.ask(method, url + path, sent, typeof body === 'string' ? body : JSON.stringify(body))
    const isJson = /json/.test(answer.headers.get('content-type') ?? '')
    const reply = { ...answer, body: isJson && answer.text ? JSON.parse(answer.text) : undefined }
    if (reply.status === 200) checkOutput(service.endpoints(), method, path, reply.body)
    return reply
  }
  return {
    url,
    storeDir,
    traces: service.traces.of({ store: { folder: `${storeDir}/default`, fs: options.fs ?? nodeFs } }),
    repository: (slug, family = 'workflows') => join(storeDir, 'default', family, `${slug}.git`),
    call,
    post: (path, body = {}, headers) => call('POST', path, body, headers),
    get: (path, headers) => call('GET', path, undefined, headers),
    put: (path, body) => call('PUT', path, body),
    stop: async ({ keepStore = false } = {}) => {
      await service.server.stop(5000)
      await service.close()
      if (keepStore) return
      rmSync(storeDir, { recursive: true, force: true })
      await forgetStore(storeDir)
    },
  }
}

async function fetchAnswer(url: string, init: RequestInit): Promise<Answer> {
  const response = await fetch(url, init)
  return { status: response.status, headers: response.headers, text: await response.text() }
}

function checkOutput(endpoints: readonly Endpoint[], method: string, path: string, body: unknown): void {
  const bare = normalisePath(path).replace(/\?.*$/, '')
  const endpoint = endpoints.find((it) => it.method === method && pattern(it.path).test(bare))
  // A download is no JSON.
  const isDownload = body === undefined && endpoint?.downloads !== undefined
  const result = endpoint && !isDownload && answersOf(endpoint).safeParse(body)
  if (result && !result.success) {
    throw new Error(
      `${method} ${path} answered what its schema does not allow: ${result.error.message}\n${JSON.stringify(body)}`,
    )
  }
}

/** Of each endpoint once: to put a union together takes longer than to hold an answer against it. */
const answers = new WeakMap<Endpoint, z.ZodType>()

function answersOf(endpoint: Endpoint): z.ZodType {
  const known = answers.get(endpoint)
  if (known) return known
  const made = z.union([endpoint.output, ...(endpoint.alsoAnswers ?? [])])
  answers.set(endpoint, made)
  return made
}

const patterns = new Map<string, RegExp>()

function pattern(path: string): RegExp {
  const known = patterns.get(path)
  if (known) return known
  const made = new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`)
  patterns.set(path, made)
  return made
}

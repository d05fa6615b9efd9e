import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createApiKey } from '../../../src/access/keys/api-keys.ts'
import { nodeFs } from '../../../src/storage/files/node-fs.ts'
import type { ServerKind } from './scenario.ts'

/** A server in a process of its own, over a new store. */
export interface RecordedServer {
  readonly url: string
  readonly storeDir: string
  /** A new project's admin key. */
  newProject(project: string): Promise<string>
  stop(): Promise<void>
}

/** The key of the servers themselves, an admin of the project `default`. */
export const SERVER_KEY = 'recorded-default-key'

/** What every server is told: nothing reaches beyond this machine, and nothing waits long. */
const COMMON = {
  PORT: '0',
  LOG_LEVEL: 'warn',
  SVC_API_KEY: SERVER_KEY,
  TZ: 'UTC',
  LANG: 'C.UTF-8',
  UPKEEP: 'off',
  WEBHOOK_ALLOW_PRIVATE: 'true',
  WEBHOOK_RETRY_SECONDS: '0.05,0.05',
  HOOK_ALLOW_PRIVATE: 'true',
} as const

const SETTINGS: Readonly<Record<ServerKind, Readonly<Record<string, string>>>> = {
  plain: {},
  // Answers as the existing service does.
  existing: { COMPAT: 'existing' },
  // Limits that small requests exceed.
  small: {
    MAX_BODY_BYTES: '4096',
    MAX_DOCUMENT_BYTES: '2048',
    MAX_BODY_DEPTH: '12',
    UPLOAD_MAX_BYTES: '2048',
    TESTSET_MAX_ROWS: '5',
    TESTSET_MAX_ROW_BYTES: '1024',
    PUSH_MAX_BYTES: '16384',
    PUSH_MAX_BLOB_BYTES: '2048',
    EVENTS_AT_ONCE: '4',
    EVALUATIONS_AT_ONCE: '1',
    VERSION_TYPE: 'string',
    METRICS: 'open',
    TRACES: 'off',
    SANDBOX_TIMEOUT_MS: '2000',
    WEBHOOK_ALLOW_PRIVATE: 'false',
    HOOK_ALLOW_PRIVATE: 'false',
  },
}

const PROGRAM = fileURLToPath(new URL('../../../src/main.js', import.meta.url))
const CLOCK = new URL('./clock.js', import.meta.url).href

/** Starts one, with a clock that the steps of scenarios move. */
export async function startRecordedServer(kind: ServerKind): Promise<RecordedServer> {
  const storeDir = mkdtempSync(join(tmpdir(), 'recorded-'))
  const child = spawn(process.execPath, ['--import', CLOCK, PROGRAM], {
    env: { PATH: process.env['PATH'], ...COMMON, LOG_LEVEL: 'info', STORE_DIR: storeDir, ...SETTINGS[kind] },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const url = await addressOf(child)
  return {
    url,
    storeDir,
    newProject: async (project) =>
      (await createApiKey(nodeFs, storeDir, { project, name: 'admin', scopes: ['admin'] })).token,
    stop: async () => {
      if (child.exitCode === null) {
        child.kill('SIGTERM')
        await once(child, 'exit')
      }
      rmSync(storeDir, { recursive: true, force: true })
    },
  }
}

function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    child.once('exit', (code) => reject(new Error(`the server ended with ${code}: ${text}`)))
    child.stdout?.on('data', (piece: Buffer) => {
      if (text.length > 100_000) return
      text += piece.toString()
      const url = /"url":"([^"]+)"/.exec(text)?.[1]
      if (url !== undefined) resolve(url)
    })
  })
}

/** A request that a webhook or a hook sent. */
export interface ReceivedRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Where webhooks and hooks of scenarios lead: `/<project>/<status>` answers with that status. */
export interface RecordedReceiver {
  readonly url: string
  /** What came for a project so far. */
  of(project: string): ReceivedRequest[]
  stop(): void
}

export async function startRecordedReceiver(): Promise<RecordedReceiver> {
  const received: ReceivedRequest[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request
      const body = Buffer.concat(chunks).toString()
      received.push({ method, path, headers: headers as Record<string, string>, body })
      const [, , status = '200', answer = 'ok'] = path.split('/')
      response.writeHead(Number(status), { 'content-type': 'application/json' })
      response.end(answer === 'echo' ? body : JSON.stringify({ data: { outputs: answer }, outputs: answer }))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    of: (project) => received.filter(({ path }) => path.split('/')[1] === project),
    stop: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

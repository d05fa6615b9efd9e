import { readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Router from '@koa/router'
import type { Middleware } from 'koa'
import { type Caller, callerWith } from '../../src/access/keys/caller.ts'
import { type AppDependencies, createApp } from '../../src/http/app.ts'
import { jsonBodyReader } from '../../src/http/body/json-body.ts'
import { openLogger } from '../../src/http/logger.ts'
import { SessionDoor } from '../../src/http/request.ts'
import { startServer } from '../../src/http/server/server.ts'

/** The one token that a test door lets in. */
export const TOKEN = 'svc_test'

export const CALLER: Caller = callerWith('default', {
  id: '5f8f0b52-1111-7000-8000-000000000001',
  name: 'ci',
  email: 'ci@example.org',
  scopes: ['read'],
})

export interface Door {
  readonly url: string
  /** A request with the key, unless `init` says otherwise. */
  fetch(path: string, init?: RequestInit): Promise<Response>
  /** The log so far, parsed, and as text. */
  log(): { readonly lines: readonly Record<string, unknown>[]; readonly text: string }
  close(): Promise<void>
}

const pass: Middleware = (_ctx, next) => next()

/** The real app on a free port, with the given routes behind it, and a middleware in front of its own. */
export async function openDoor(
  route: (router: Router) => void,
  changes: Partial<AppDependencies> = {},
  first?: Middleware,
): Promise<Door> {
  const router = new Router()
  route(router)
  const file = join(tmpdir(), `door-${process.pid}-${Math.random()}.log`)
  const { logger, flush } = openLogger('info', file)
  const app = createApp({
    log: logger,
    observe: () => undefined,
    load: { server: { answering: new Set() }, events: { followers: 0 }, most: 100 },
    store: { fresh: async () => undefined },
    storeProblem: () => undefined,
    metrics: () => undefined,
    door: new SessionDoor({ find: () => undefined }, undefined),
    authenticate: (token) => (token === TOKEN ? CALLER : undefined),
    readiness: () => ({ ready: true, artifacts: 0, listAge: 0, problems: [] }),
    openApi: async () => ({ openapi: '3.1.0', info: { title: 'Test', version: '1' }, paths: {} }),
    paths: () => router.stack.map(({ path }) => String(path)),
    restore: pass,
    git: pass,
    readJsonBody: jsonBodyReader({ maxBytes: 1024 * 1024, maxHeldBytes: 1024 * 1024 }),
    // Typed for Koa's open state; at run time a plain middleware.
    route: router.routes() as unknown as AppDependencies['route'],
    ...changes,
  })
  if (first) app.middleware.unshift(first)
  const server = await startServer({
    host: '127.0.0.1',
    port: 0,
    maxConnections: 100,
    handle: app.callback(),
  })
  return {
    url: server.url,
    fetch: (path, init = {}) =>
      fetch(server.url + path, { ...init, headers: { Authorization: `ApiKey ${TOKEN}`, ...init.headers } }),
    log: () => {
      flush()
      const text = readFileSync(file, 'utf8')
      return {
        text,
        lines: text
          .trim()
          .split('\n')
          .filter(Boolean)
          .map((line) => JSON.parse(line)),
      }
    },
    close: async () => {
      await server.stop(1000)
      rmSync(file, { force: true })
    },
  }
}

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { createApiKey } from '../../../src/access/keys/api-keys.ts'
import type { Scope } from '../../../src/access/keys/scope.ts'
import { readConfig } from '../../../src/config.ts'
import { nodeFs } from '../../../src/storage/files/node-fs.ts'
import { start } from '../../../src/server/start.ts'
import type { CallerName } from './arbitrary/arbitrary-request.ts'

/** A service in this process, so that an exception nobody caught is seen. */
export interface FuzzedService {
  readonly url: string
  readonly storeDir: string
  /** What to send as Authorization. */
  readonly keys: Readonly<Record<CallerName, string | undefined>>
  /** What was logged as an error since it was last asked for. */
  takeErrors(): string[]
  /** Stops it, and removes the store unless it is to be kept. */
  stop(options?: { readonly keepStore?: boolean }): Promise<void>
}

/**
 * Starts the service over a new store, or one that is there, with a key for each of `scopes`. Nothing in it waits long, and no
 * request reaches beyond this machine.
 */
export async function startFuzzedService(
  existing?: string,
  scopes: readonly Scope[] = [],
): Promise<FuzzedService> {
  const storeDir = existing ?? mkdtempSync(join(tmpdir(), 'branchpoint-fuzz-'))
  const errors: string[] = []
  const logger = pino({ level: 'error', base: null }, { write: (line) => void errors.push(line) })
  const config = readConfig({
    PORT: '0',
    STORE_DIR: storeDir,
    SVC_API_KEY: ADMIN,
    // A port of its own each time must not make an answer another one.
    PUBLIC_URL: 'http://fuzz.example',
    SANDBOX_TIMEOUT_MS: '500',
    SANDBOX_AT_ONCE: '1',
    MODEL_TIMEOUT_MS: '1000',
    WEBHOOK_TIMEOUT_MS: '500',
    MAX_BODY_BYTES: '1048576',
    UPLOAD_MAX_BYTES: '1048576',
    PUSH_MAX_BYTES: '8388608',
  })
  const service = await start({
    config,
    fs: nodeFs,
    log: { logger, flush: () => undefined, flushed: async () => undefined },
    now: () => new Date(),
  })
  const made: [string, string][] = []
  for (const scope of scopes) {
    const name = `fuzz-${scope}-${Math.random().toString(36).slice(2)}`
    const { token } = await createApiKey(nodeFs, storeDir, { project: 'default', name, scopes: [scope] })
    made.push([scope, `ApiKey ${token}`])
  }
  return {
    url: service.server.url,
    storeDir,
    // a scope without a key of its own asks as nobody
    keys: {
      ...Object.fromEntries(made),
      admin: `ApiKey ${ADMIN}`,
      stranger: 'ApiKey svc_x',
    } as FuzzedService['keys'],
    takeErrors: () => errors.splice(0),
    stop: async ({ keepStore = false } = {}) => {
      await service.server.stop(2000)
      await service.close()
      if (!keepStore) rmSync(storeDir, { recursive: true, force: true })
    },
  }
}

const ADMIN = 'fuzz-admin-key'

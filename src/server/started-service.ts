import type { Config } from '../config.ts'
import type { Endpoint } from '../http/routing.ts'
import type { Log } from '../http/logger.ts'
import type { RunningServer } from '../http/server.ts'
import type { Fs } from '../storage/files.ts'
import type { OpenTraces } from '../feeds/traces.ts'

export interface StartOptions {
  readonly config: Config
  readonly fs: Fs
  readonly log: Log
  readonly now: () => Date
}

export interface StartedService {
  readonly server: RunningServer
  /** The key that was created because the store had none; shown only once. */
  readonly firstToken: string | undefined
  /** A link that opens the page once, signed in as an admin of the project `default`; undefined without a suitable key. */
  signInLink(): Promise<string | undefined>
  readonly traces: OpenTraces
  /** All routes that need a key. */
  endpoints(): readonly Endpoint[]
  /**
   * Stops background work and settles the store; call it after the server has stopped. Answers what did not end in time or failed. Everything
   * acknowledged is durable, and the next start finishes the rest.
   */
  close(): Promise<readonly string[]>
}

import type { Config } from '../config.ts'
import type { Endpoint } from '../http/routing/endpoint.ts'
import type { Log } from '../http/server/logger.ts'
import type { RunningServer } from '../http/server/server.ts'
import type { Fs } from '../storage/fs.ts'
import type { OpenTraces } from '../traces/open-traces.ts'

export interface StartOptions {
  readonly config: Config
  readonly fs: Fs
  readonly log: Log
  readonly now: () => Date
}

export interface StartedService {
  readonly server: RunningServer
  /** The key made because the store had none; shown once, here. */
  readonly firstToken: string | undefined
  /** A link that opens the page signed in as an admin of project `default`, once; undefined where it has no key that would do. */
  signInLink(): Promise<string | undefined>
  /** The traces of every project. */
  readonly traces: OpenTraces
  /** Every route that needs a key. */
  endpoints(): readonly Endpoint[]
  /**
   * Stops looking after the store and settles it; call it once the server has stopped. Answers what did not end in its time, or could
   * not: what is durable is, and the next start finishes the rest.
   */
  close(): Promise<readonly string[]>
}

import type { Config } from '../../src/config.ts'
import type { ProgressOutput } from './show-progress.ts'

/** Around a command: how the service is set up, where progress is shown, and what says stop. */
export interface Surroundings {
  readonly config: Config
  readonly progress: ProgressOutput
  readonly signal: AbortSignal
}

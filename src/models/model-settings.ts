import type { ReachSettings } from './model-endpoint.ts'

/** How models are called for one project. */
export interface ModelSettings extends ReachSettings {
  /** How long a call may take, from the first look at a name to the end of the answer, in milliseconds. */
  readonly timeoutMs: number
}

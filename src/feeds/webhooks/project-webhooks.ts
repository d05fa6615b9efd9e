import type { OutgoingPolicy } from '../outgoing/outgoing-policy.ts'
import { type Documents, documentsOf, type Fs } from '../../storage/files.ts'
import type { Registry } from '../../registry/registries.ts'
import { WebhookStore } from './webhook-store.ts'

/** What everything that is done with a project's webhooks needs. */
export interface ProjectWebhooks {
  readonly registry: Registry
  readonly fs: Fs
  readonly documents: Documents
  /** `<store>/<project>/webhooks`: outside every repository, since it holds secrets. */
  readonly folder: string
  readonly shelf: WebhookStore
  readonly settings: WebhookSettings
  /** To be called when the project's first webhook was made: then there is somebody to tell. */
  readonly begin: () => void
}

/** The webhooks of a registry's project. */
export function projectWebhooks(
  registry: Registry,
  fs: Fs,
  settings: WebhookSettings,
  begin: () => void,
): ProjectWebhooks {
  const folder = `${registry.store.folder}/webhooks`
  return {
    registry,
    fs,
    documents: documentsOf(fs),
    folder,
    shelf: new WebhookStore(fs, folder),
    settings,
    begin,
  }
}

/** What of the configuration, and of the process, webhooks depend on. */
export interface WebhookSettings {
  readonly policy: OutgoingPolicy
  /** How long an attempt may take. */
  readonly timeoutMs: number
  /** How long after each failed attempt the next one is made. */
  readonly retrySeconds: readonly number[]
  readonly now: () => Date
  /** Told what keeps events from being told or delivered, for the log. */
  readonly onTrouble: (error: unknown) => void
}

import type { OutgoingPolicy } from '../outgoing/outgoing-policy.ts'
import { type Documents, documentsOf, type Fs } from '../../storage/files.ts'
import type { Registry } from '../../registry/registries.ts'
import { WebhookStore } from './webhook-store.ts'

/** The context of all work on a project's webhooks. */
export interface ProjectWebhooks {
  readonly registry: Registry
  readonly fs: Fs
  readonly documents: Documents
  /** `<store>/<project>/webhooks`: outside every repository, because it has secrets. */
  readonly folder: string
  readonly shelf: WebhookStore
  readonly settings: WebhookSettings
  /** Call it when the project's first webhook was created, so that publishing begins. */
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

/**
 * The webhooks that a key limited to folders sees: none, because each is about the whole project (interface 18.8). Only the routes that
 * read ask for them.
 */
export function noWebhooks({ store }: Registry): ProjectWebhooks {
  const shelf = new WebhookStore(NO_FILES, `${store.folder}/webhooks`)
  return { shelf } as ProjectWebhooks // what writes webhooks takes the scope admin, which no such key has
}

/** A folder of which nothing is there. */
const NO_FILES = { readDir: () => undefined, stat: () => undefined } as unknown as Fs

/** Settings that webhooks need. */
export interface WebhookSettings {
  readonly policy: OutgoingPolicy
  /** The time limit of an attempt. */
  readonly timeoutMs: number
  /** The pause after each failed attempt. */
  readonly retrySeconds: readonly number[]
  readonly now: () => Date
  /** Receives problems of publishing and delivering, for the log. */
  readonly onTrouble: (error: unknown) => void
}

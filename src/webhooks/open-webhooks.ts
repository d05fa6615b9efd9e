import type { Fs } from '../storage/fs.ts'
import type { Registry } from '../versioning/registry.ts'
import type { ProjectWebhooks } from './project-webhooks.ts'
import { projectWebhooks } from './project-webhooks.ts'
import { EventPublisher } from './publisher/event-publisher.ts'
import type { WebhookSettings } from './webhook-settings.ts'

/** The webhooks of all projects that a process serves. */
export class OpenWebhooks {
  readonly #fs: Fs
  readonly #settings: WebhookSettings
  readonly #projects = new Map<Registry, ProjectWebhooks>()
  readonly #tellers: EventPublisher[] = []

  constructor(fs: Fs, settings: WebhookSettings) {
    this.#fs = fs
    this.#settings = settings
  }

  /** Tells of what happens in a project from now on, and of what was not told before. */
  open(registry: Registry): void {
    const project = projectWebhooks(registry, this.#fs, this.#settings, () => teller.begin())
    const teller = new EventPublisher(project)
    this.#projects.set(registry, project)
    this.#tellers.push(teller)
    // Whoever tells goes over all artifacts: until they are here, another server does.
    void Promise.resolve(registry.store.filling?.whole).then(() => teller.start())
  }

  of(registry: Registry): ProjectWebhooks {
    const project = this.#projects.get(registry)
    if (!project) throw new Error('the webhooks of this project have not been opened')
    return project
  }

  /** How many deliveries wait that this process sends. */
  get waiting(): number {
    return this.#tellers.reduce((sum, teller) => sum + teller.waiting, 0)
  }

  /** Resolves once nothing is told or sent any more. */
  async close(): Promise<void> {
    await Promise.all(this.#tellers.map((teller) => teller.stop()))
  }
}

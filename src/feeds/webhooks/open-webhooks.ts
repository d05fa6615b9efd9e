import type { Fs, Lease } from '../../storage/files.ts'
import { type Registry, pathOf } from '../../registry/registries.ts'
import { type ProjectWebhooks, projectWebhooks, type WebhookSettings } from './project-webhooks.ts'
import { setTimeout as pause } from 'node:timers/promises'
import type { ArtifactView } from '../../registry/artifacts.ts'
import { Outbox } from './deliveries/outbox.ts'
import type { RegistryEvent } from './registry-event.ts'
import { isSending } from './webhook.ts'
import { beginCursorLog, CursorLog, cursorOf, isPublished, type PublishCursor } from './cursor-log.ts'
import { creationOf, eventsBetween } from './events-between.ts'

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

  /** Publishes a project's events from now on, and those that were not published before. */
  open(registry: Registry): void {
    const project = projectWebhooks(registry, this.#fs, this.#settings, () => teller.begin())
    const teller = new EventPublisher(project)
    this.#projects.set(registry, project)
    this.#tellers.push(teller)
    // Publishing needs all artifacts: while the folder is being filled, another server does it.
    void Promise.resolve(registry.store.filling?.whole).then(() => teller.start())
  }

  of(registry: Registry): ProjectWebhooks {
    const project = this.#projects.get(registry)
    if (!project) throw new Error('the webhooks of this project have not been opened')
    return project
  }

  /** The number of waiting deliveries that this process sends. */
  get waiting(): number {
    return this.#tellers.reduce((sum, teller) => sum + teller.waiting, 0)
  }

  /** Resolves once nothing is published or sent any more. */
  async close(): Promise<void> {
    await Promise.all(this.#tellers.map((teller) => teller.stop()))
  }
}

/** How often a process tries to become the publisher, in milliseconds. */
const ASK_EVERY = 1000
/** Milliseconds in which writes of an artifact are collected. */
const COLLECT_MS = 20
/** The pause before a failed publication is tried again, in milliseconds. */
const AGAIN = 10_000
/** An artifact that appears and is this much older than the last publication was imported. */
const BROUGHT = 60 * 60 * 1000

/**
 * Publishes a project's events to its webhooks. Git is the record of changes, so a write stores nothing for its events: it leaves a note in
 * memory, and soon afterwards git is compared with the publish cursors (`CursorLog`). The next start finds events of the time without a
 * server, or that a crash cut off, by the same comparison.  One process of the store publishes: the one with the lease `teller`. It sees
 * other processes' writes by the sweeps of the index. When it ends, another one takes its place within a second or two.
 */
class EventPublisher {
  readonly #project: ProjectWebhooks
  /** Artifacts to check, by path. */
  readonly #noted = new Map<string, ArtifactView>()
  readonly #failed = new Map<string, ArtifactView>()
  readonly #stopping = new AbortController()
  #life: Promise<void> | undefined
  #isLeading = false
  #outbox: Outbox | undefined
  /** Ends the current pause. */
  #wake: (() => void) | undefined

  constructor(project: ProjectWebhooks) {
    this.#project = project
  }

  /** Publishes whenever this process has the lease, until it is stopped. */
  start(): void {
    this.#life = this.#live()
  }

  /** Tries to get the lease at once. */
  begin(): void {
    if (!this.#isLeading) this.#wake?.()
  }

  /** Resolves once nothing is published, sent or written any more, so that another process may take over. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#wake?.()
    await this.#life
  }

  /** The number of waiting deliveries, if this process sends them. */
  get waiting(): number {
    return this.#outbox?.waiting ?? 0
  }

  get #isStopped(): boolean {
    return this.#stopping.signal.aborted
  }

  /** Whether this process must stop publishing. */
  #isOver({ signal }: Lease): boolean {
    return this.#isStopped || signal.aborted
  }

  async #live(): Promise<void> {
    const { documents, folder, shelf, settings } = this.#project
    while (!this.#isStopped) {
      try {
        if (shelf.list().length > 0)
          await documents.leaseIfFree(`${folder}/teller`, (lease) => this.#lead(lease))
      } catch (error) {
        settings.onTrouble(error)
      }
      await this.#nap(ASK_EVERY)
    }
  }

  async #lead(lease: Lease): Promise<void> {
    const { registry, fs, folder, shelf, settings } = this.#project
    await beginCursorLog(this.#project, lease) // the log was removed
    const told = await CursorLog.open(fs, folder, lease)
    const outbox = new Outbox(shelf, settings, lease)
    const giveUp = (): void => this.#wake?.()
    lease.signal.addEventListener('abort', giveUp)
    this.#outbox = outbox
    const unwatch = registry.index.watch(({ view }) => {
      if (!view) return // removals are not published
      this.#noted.set(pathOf(view.family, view.slug), view)
      if (this.#isLeading) this.#wake?.()
    })
    try {
      this.#isLeading = true
      // This process may have seen an older state than the previous publisher.
      await registry.index.sweep()
      for (const family of registry.families) {
        for (const view of await registry.index.list(family)) {
          const path = pathOf(family, view.slug)
          if (!isPublished(view, told.get(path)) && !this.#noted.has(path)) this.#noted.set(path, view)
        }
      }
      outbox.go()
      while (!this.#isOver(lease)) {
        await this.#tellNoted(told, outbox, lease)
        if (this.#noted.size === 0 && !this.#isOver(lease))
          await this.#nap(this.#failed.size > 0 ? AGAIN : undefined)
        if (!this.#isOver(lease)) await pause(COLLECT_MS)
      }
    } finally {
      lease.signal.removeEventListener('abort', giveUp)
      this.#isLeading = false
      unwatch()
      this.#noted.clear()
      this.#failed.clear()
      await outbox.stop()
      this.#outbox = undefined
    }
  }

  async #tellNoted(told: CursorLog, outbox: Outbox, lease: Lease): Promise<void> {
    // No new changes: retry the failed ones.
    const views = new Map(this.#noted.size > 0 ? this.#noted : this.#failed)
    this.#noted.clear()
    for (const [path, view] of views) {
      if (this.#isOver(lease)) return
      this.#failed.delete(path)
      try {
        await this.#tell(view, told, outbox)
      } catch (error) {
        if (!this.#noted.has(path)) this.#failed.set(path, view)
        this.#project.settings.onTrouble(error)
      }
    }
  }

  async #tell(view: ArtifactView, told: CursorLog, outbox: Outbox): Promise<void> {
    const before = told.get(pathOf(view.family, view.slug))
    if (isPublished(view, before)) return
    const { shelf, settings } = this.#project
    if (shelf.list().some(isSending)) {
      for (const event of await this.#eventsOf(view, before, told.latest)) await outbox.put(event)
      outbox.go()
    }
    await told.add(cursorOf(view, settings.now()))
  }

  #eventsOf(
    view: ArtifactView,
    before: PublishCursor | undefined,
    latest: number,
  ): Promise<readonly RegistryEvent[]> {
    const { registry } = this.#project
    // A restored repository is one event, not one for each of its revisions.
    const isBrought = before?.id !== view.id && Date.parse(view.record.created_at) < latest - BROUGHT
    return isBrought ? creationOf(view) : eventsBetween(registry, view, before)
  }

  /** Pauses, until it is woken. */
  async #nap(milliseconds: number | undefined): Promise<void> {
    if (this.#isStopped) return
    await new Promise<void>((resolve) => {
      const timer = milliseconds === undefined ? undefined : setTimeout(resolve, milliseconds).unref()
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
    this.#wake = undefined
  }
}

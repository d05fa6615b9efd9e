import { setTimeout as pause } from 'node:timers/promises'
import type { ArtifactView } from '../../registry/artifacts.ts'
import { type ArtifactChange, viewOf, type Registry } from '../../registry/registries.ts'
import { creationOf, eventsBetween, cursorOf } from '../../feeds/webhooks.ts'
import { type LiveEvent, liveEventOf, removalOf } from './live-event.ts'

/** How long (milliseconds) changes are collected before they are published, so that an artifact's changes are handled together. */
const COLLECT_MS = 20
const MAX_BUSY_MS = 10
const REST_PER_BUSY_TIME = 9
const MAX_REST_MS = 500
/** With more waiting artifacts, or more new revisions of one artifact, a reset is published instead of single events. */
const MAX_NOTED_ARTIFACTS = 1000
const MAX_NEW_REVISIONS = 200
/** An older artifact (milliseconds) that appears was imported with its history. */
const MAX_AGE_OF_NEW_MS = 60 * 60 * 1000

/** A change that waits to be published: the artifact's state at the last publication, and its latest change. */
interface Noted {
  readonly before: ArtifactChange['before']
  readonly change: ArtifactChange
}

/** The receiver of events. */
export interface Told {
  event(event: LiveEvent): void
  /** Too much has happened for single events: clients must reload. */
  reset(): void
}

/**
 * Publishes changes of a project's artifacts until it is stopped. Git has the record of changes, as for webhooks: a write only leaves a note
 * in memory, and soon afterwards the artifact's old and new states are compared.
 */
export class ChangeTeller {
  readonly #registry: Registry
  readonly #told: Told
  readonly #noted = new Map<string, Noted>()
  readonly #stopping = new AbortController()
  readonly #unwatch: () => void
  #isTelling = false

  constructor(registry: Registry, told: Told) {
    this.#registry = registry
    this.#told = told
    this.#unwatch = registry.index.watch((change) => this.#note(change))
  }

  stop(): void {
    this.#unwatch()
    this.#stopping.abort()
  }

  /** Called within a write, so it only takes a note. */
  #note(change: ArtifactChange): void {
    const { path } = change
    const noted = this.#noted.get(path)
    this.#noted.set(path, { before: noted ? noted.before : change.before, change })
    if (this.#isTelling) return
    this.#isTelling = true
    // Only a stop interrupts the pause, and then nothing more is published.
    void this.#tellNoted().catch(() => undefined)
  }

  async #tellNoted(): Promise<void> {
    const { signal } = this.#stopping
    for (let rest = COLLECT_MS; this.#noted.size > 0;) {
      await pause(rest, undefined, { signal, ref: false })
      if (this.#noted.size > MAX_NOTED_ARTIFACTS) this.#giveUp()
      const began = performance.now()
      for (const [path, noted] of this.#noted) {
        this.#noted.delete(path)
        await this.#tell(noted)
        if (signal.aborted) return
        if (performance.now() - began > MAX_BUSY_MS) break
      }
      rest = Math.max(COLLECT_MS, Math.min((performance.now() - began) * REST_PER_BUSY_TIME, MAX_REST_MS))
    }
    this.#isTelling = false
  }

  async #tell(noted: Noted): Promise<void> {
    try {
      for (const event of await this.#eventsOf(noted)) this.#told.event(event)
    } catch {
      // The artifact was removed meanwhile or is unreadable; requests for it report that.
      this.#told.reset()
    }
  }

  async #eventsOf({ before, change }: Noted): Promise<readonly LiveEvent[]> {
    const { view } = change
    const { store, now } = this.#registry
    if (!view) return [removalOf(change, !store.exists(change.family.folder, change.slug), now())]
    const last = before && viewOf(before)
    const isBrought = !last && now().getTime() - Date.parse(view.record.created_at) > MAX_AGE_OF_NEW_MS
    if (isBrought) return (await creationOf(view)).map(liveEventOf)
    if ((await mostNewRevisions(view, last)) > MAX_NEW_REVISIONS) {
      this.#told.reset()
      return []
    }
    const cursor = last && cursorOf(last, now())
    return (await eventsBetween(this.#registry, view, cursor)).map(liveEventOf)
  }

  #giveUp(): void {
    this.#noted.clear()
    this.#told.reset()
  }
}

/** The number of new revisions on the branch that grew most. */
async function mostNewRevisions(
  { repository: { history, objects }, variants }: ArtifactView,
  before: ArtifactView | undefined,
): Promise<number> {
  const heads = new Map(before?.variants.map(({ slug, head }) => [slug, head]))
  let most = 0
  for (const { slug, head } of variants) {
    const last = heads.get(slug)
    if (head === undefined || head === last) continue
    if (before && last === undefined) continue // the first revisions of a new branch existed before
    const isThere = last !== undefined && (await objects.read(last)) !== undefined
    const { depth } = await history.node(head)
    most = Math.max(most, depth - (isThere ? (await history.node(last)).depth : 0))
  }
  return most
}

import { setTimeout as pause } from 'node:timers/promises'
import type { ArtifactView } from '../versioning/artifacts/artifact-view.ts'
import { type ArtifactChange, viewOf } from '../versioning/index/index-entry.ts'
import type { Registry } from '../versioning/registry.ts'
import { creationOf, eventsBetween } from '../webhooks/events-between.ts'
import { cursorOf } from '../webhooks/cursor-log.ts'
import { type LiveEvent, liveEventOf, removalOf } from './live-event.ts'

/** So long changes are collected before they are told, in milliseconds: those of one artifact are then looked at together. */
const COLLECT = 20
/** So long it tells before it rests, in milliseconds, and so many times as long it rests, but no longer than this: writes hardly notice it. */
const SLICE = 10
const REST = 9
const LONGEST_REST = 500
/** Of more artifacts that wait, or more new revisions of one, what happened is not told one by one. */
const MOST_NOTED = 1000
const MOST_REVISIONS = 200
/** An artifact that turns up and is older than this, in milliseconds, was brought from elsewhere with its history. */
const BROUGHT = 60 * 60 * 1000

/** What waits to be told of an artifact: what was there when it was told last, and what is there now. */
interface Noted {
  readonly before: ArtifactChange['before']
  readonly change: ArtifactChange
}

/** Who is told. */
export interface Told {
  event(event: LiveEvent): void
  /** More happened than can be told: whoever follows has to look for itself. */
  reset(): void
}

/**
 * Tells what changes in a project's artifacts until it is stopped. Git is the record of that, as it is for webhooks: a write only leaves a note in
 * memory, and soon afterwards what the artifact was is compared with what it is.
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

  /** Within the write: it only takes note. */
  #note(change: ArtifactChange): void {
    const { path } = change
    const noted = this.#noted.get(path)
    this.#noted.set(path, { before: noted ? noted.before : change.before, change })
    if (this.#isTelling) return
    this.#isTelling = true
    // Only a stop ends a rest, and nothing is told then.
    void this.#tellNoted().catch(() => undefined)
  }

  async #tellNoted(): Promise<void> {
    const { signal } = this.#stopping
    for (let rest = COLLECT; this.#noted.size > 0;) {
      await pause(rest, undefined, { signal, ref: false })
      if (this.#noted.size > MOST_NOTED) this.#giveUp()
      const began = performance.now()
      for (const [path, noted] of this.#noted) {
        this.#noted.delete(path)
        await this.#tell(noted)
        if (signal.aborted) return
        if (performance.now() - began > SLICE) break
      }
      rest = Math.max(COLLECT, Math.min((performance.now() - began) * REST, LONGEST_REST))
    }
    this.#isTelling = false
  }

  async #tell(noted: Noted): Promise<void> {
    try {
      for (const event of await this.#eventsOf(noted)) this.#told.event(event)
    } catch {
      // It was removed meanwhile, or cannot be read: whoever asks for it is told so.
      this.#told.reset()
    }
  }

  async #eventsOf({ before, change }: Noted): Promise<readonly LiveEvent[]> {
    const { view } = change
    const { store, now } = this.#registry
    if (!view) return [removalOf(change, !store.exists(change.family.folder, change.slug), now())]
    const last = before && viewOf(before)
    const isBrought = !last && now().getTime() - Date.parse(view.record.created_at) > BROUGHT
    if (isBrought) return (await creationOf(view)).map(liveEventOf)
    if ((await mostNewRevisions(view, last)) > MOST_REVISIONS) {
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

/** How many revisions longer the branch is that has grown most. */
async function mostNewRevisions(
  { repository: { history, objects }, variants }: ArtifactView,
  before: ArtifactView | undefined,
): Promise<number> {
  const heads = new Map(before?.variants.map(({ slug, head }) => [slug, head]))
  let most = 0
  for (const { slug, head } of variants) {
    const last = heads.get(slug)
    if (head === undefined || head === last) continue
    if (before && last === undefined) continue // what a new branch begins with was there before
    const isThere = last !== undefined && (await objects.read(last)) !== undefined
    const { depth } = await history.node(head)
    most = Math.max(most, depth - (isThere ? (await history.node(last)).depth : 0))
  }
  return most
}

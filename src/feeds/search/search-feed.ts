import { setTimeout as wait } from 'node:timers/promises'
import { EMBED_SEARCH, holdsEmbed } from '../../registry/embeds.ts'
import { Refusal } from '../../errors.ts'
import { TimeSlice } from '../../base/scheduling.ts'
import { IN_MEMORY, type DatabaseThread, DatabaseTrouble } from '../../storage/sqlite.ts'
import type { ArtifactView } from '../../registry/artifacts.ts'
import { documentOf, LargeDocument } from '../../registry/families.ts'
import { damageOf, type ArtifactChange, pathOf, viewOf, type Registry } from '../../registry/registries.ts'
import { homeAmong, homeOf } from '../../registry/revisions.ts'
import type { AskIndex, SearchDocument, SearchWork, Unsearched } from './index/search-work.ts'
import { doSearchWork } from './index/search-work.ts'
import { RowFeed } from './row-feed.ts'
import { type Searched, textsOf } from './texts-of.ts'

/** One kind of searchable things: documents, or rows. */
interface FeedSource {
  /** The maximum number of steps before a question is answered. That is usually enough for everything that was written since the last question. */
  readonly beforeQuestion: number
  /** In the background it rests after each step, for this many times the duration of the step. */
  readonly rest: number
  /** Adds the words of a few new things to the index. Answers whether there were any, so there may be more. */
  next(): Promise<boolean>
}

/** New things wait this long for others, in milliseconds. By then the index has their rows. */
const LATER = 2500

/** Keeps the words of a project searchable: in the background, and before a question is answered. */
export class SearchFeed {
  readonly #registry: Registry
  readonly #thread: DatabaseThread<SearchWork>
  readonly #documents: FeedSource
  readonly #rows: FeedSource
  /** The sources that may have something new. */
  readonly #behind = new Set<FeedSource>()
  readonly #stop = new AbortController()
  readonly #unwatch: () => void
  #turn: Promise<unknown> = Promise.resolve()
  #running: Promise<void> | undefined

  /** `thread` has its own connection to the project's index; see search-thread. */
  constructor(registry: Registry, thread: DatabaseThread<SearchWork>) {
    this.#registry = registry
    this.#thread = thread
    this.#documents = new DocumentFeed(registry, this.ask)
    this.#rows = new RowFeed(registry, this.ask)
    this.#unwatch = registry.index.watch(this.#note)
    this.#note()
  }

  /** Runs a job on the thread, or here if the index is in memory. */
  readonly ask: AskIndex = async (work, asks) => {
    const { file } = this.#registry.index.database
    if (!file) throw notNow('')
    try {
      if (file.path === IN_MEMORY) return doSearchWork(file, work, asks)
      return await this.#thread.call(work, file.path, asks, file.inodes)
    } catch (error) {
      throw await this.#refusalFor(error)
    }
  }

  /** The error for a caller if the file cannot be used. A damaged file is made anew. */
  async #refusalFor(error: unknown): Promise<unknown> {
    if (!(error instanceof DatabaseTrouble)) return error
    if (error.isDamage) await this.#registry.index.database.damaged(error.message)
    return notNow(`: ${error.message}`)
  }

  /** Writes the newest things. If there are very many, the rest follows in the background. */
  async catchUp(): Promise<void> {
    for (const source of [this.#documents, this.#rows])
      for (let left = source.beforeQuestion; left > 0 && (await this.#next(source)); left--);
  }

  /** Resolves when no job is running any more. */
  async close(): Promise<void> {
    this.#unwatch()
    this.#stop.abort()
    await this.#running
    await this.#turn
  }

  /** Called within a write, so it only notes the change. Without an argument, anything may have changed. */
  readonly #note = (change?: ArtifactChange): void => {
    if (!change || (change.family.rowsFolder !== undefined && isOfRows(change))) this.#behind.add(this.#rows)
    if (this.#stop.signal.aborted) return
    this.#behind.add(this.#documents)
    this.#running ??= this.#run()
  }

  async #run(): Promise<void> {
    try {
      while (this.#behind.size > 0) {
        const left = new Set(this.#behind)
        this.#behind.clear()
        await this.#pause(LATER)
        for (const source of left) {
          const began = performance.now()
          left.delete(source)
          if (!(await this.#next(source))) continue
          // It goes behind the other sources.
          left.add(source)
          await this.#pause(source.rest * (performance.now() - began))
        }
      }
    } catch {
      // The feed is closing, or the disk fails. A question reports that, and the next change tries again.
      this.#behind.add(this.#rows)
    } finally {
      this.#running = undefined
    }
  }

  #pause(ms: number): Promise<void> {
    return wait(ms, undefined, { signal: this.#stop.signal, ref: false })
  }

  /** Starts the next step of a source after the one that is running, because two steps must not run at once. */
  #next(source: FeedSource): Promise<boolean> {
    const turn = this.#turn.then(() => source.next())
    this.#turn = turn.catch(() => undefined)
    return turn
  }
}

/** Whether a change concerns an artifact whose rows are searchable, or were before the change. */
function isOfRows({ view, before }: ArtifactChange): boolean {
  return [view, before && viewOf(before)].some((it) => it?.record.flags?.['search'] === true)
}

function notNow(reason: string): Refusal {
  return new Refusal(
    'storage_unavailable',
    `The index cannot be searched now${reason}. Ask again in a moment.`,
  )
}

const DOCUMENTS_AT_ONCE = 25
/** The maximum length of all texts that are written at once. */
const MAX_LENGTH_AT_ONCE = 2_000_000

/** Revisions, and artifacts without revisions, whose words are not in the index yet; the newest first. */
class DocumentFeed implements FeedSource {
  readonly beforeQuestion = 20
  readonly rest = 9
  readonly #registry: Registry
  readonly #ask: AskIndex

  constructor(registry: Registry, ask: AskIndex) {
    this.#registry = registry
    this.#ask = ask
  }

  async next(): Promise<boolean> {
    const documents: SearchDocument[] = []
    const slice = new TimeSlice()
    let length = 0
    for (const one of await this.#ask('unsearched', { most: DOCUMENTS_AT_ONCE })) {
      const document = await this.#documentOf(one)
      if (document) documents.push(document)
      for (const { text } of document?.texts ?? []) length += text.length
      if (length > MAX_LENGTH_AT_ONCE) break
      await slice.pause()
    }
    return documents.length > 0 && (await this.#ask('write', { documents })) > 0
  }

  /** Undefined if the artifact is gone meanwhile. An unreadable revision gets no words. */
  async #documentOf({ number, path, oid }: Unsearched): Promise<SearchDocument | undefined> {
    const artifact = this.#registry.index.viewAt(path)
    if (!artifact) return undefined
    const { metaCommit: meta } = artifact
    const searched = await searchedAt(artifact, oid).catch((error: unknown) =>
      this.#leaveOut(artifact, error),
    )
    if (!searched) return { number, oid, meta, texts: [], embeds: undefined }
    return { number, oid, meta, texts: textsOf(searched), embeds: await embedsSomething(searched) }
  }

  /** Notes that an artifact cannot be read. Throws any other error. */
  #leaveOut(artifact: ArtifactView, error: unknown): undefined {
    const reason = damageOf(error, pathOf(artifact.family, artifact.slug))
    if (!reason) throw error
    this.#registry.index.leftOut(artifact, reason)
  }
}

/** Undefined if its family cannot embed anything, or the payload cannot be decoded. */
async function embedsSomething({ artifact, stored }: Searched): Promise<boolean | undefined> {
  if (!artifact.family.mayEmbed || !stored?.payload) return undefined
  return stored.payload instanceof LargeDocument
    ? stored.payload.call(artifact.repository.objects, EMBED_SEARCH, 'holdsEmbed')
    : holdsEmbed(documentOf(stored.payload))
}

/** A revision with the variant under which it is found, or an artifact without revisions. Refuses what cannot be read. */
export async function searchedAt(artifact: ArtifactView, oid: string | undefined): Promise<Searched> {
  if (oid === undefined) return { artifact, variant: artifact.defaultVariant, stored: undefined }
  const stored = await artifact.revisions.readForList(artifact.repository.objects, oid)
  const heads = artifact.variants.filter(({ head }) => head === oid)
  if (heads.length === 1) return { artifact, variant: heads[0], stored }
  const variant = homeAmong(heads, stored.trailers.variant) ?? (await homeOf(artifact, oid))?.variant
  return { artifact, variant, stored }
}

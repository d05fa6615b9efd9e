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

/** A part of what is searched. */
interface FeedSource {
  /** How often it is asked to go on before a question is answered: mostly, that is all of what was written since the last one. */
  readonly beforeQuestion: number
  /** How long it rests each time while nobody asks, times what that took. */
  readonly rest: number
  /** Has a few of what is new found. Answers whether there was something, and so may be more. */
  next(): Promise<boolean>
}

/** How long what is new waits for others, in milliseconds: by then the index has its rows. */
const LATER = 2500

/** Has what is new in a project found by its words, before anybody asks and before a question is answered. */
export class SearchFeed {
  readonly #registry: Registry
  readonly #thread: DatabaseThread<SearchWork>
  readonly #documents: FeedSource
  readonly #rows: FeedSource
  /** Those that may have something new. */
  readonly #behind = new Set<FeedSource>()
  readonly #stop = new AbortController()
  readonly #unwatch: () => void
  #turn: Promise<unknown> = Promise.resolve()
  #running: Promise<void> | undefined

  /** `thread` has a connection of its own to the project's index; see search-thread. */
  constructor(registry: Registry, thread: DatabaseThread<SearchWork>) {
    this.#registry = registry
    this.#thread = thread
    this.#documents = new DocumentFeed(registry, this.ask)
    this.#rows = new RowFeed(registry, this.ask)
    this.#unwatch = registry.index.watch(this.#note)
    this.#note()
  }

  /** Has work done on the thread, or here where the index is in memory. */
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

  /** What to answer where the file cannot be used; it is made anew if it is damaged. */
  async #refusalFor(error: unknown): Promise<unknown> {
    if (!(error instanceof DatabaseTrouble)) return error
    if (error.isDamage) await this.#registry.index.database.damaged(error.message)
    return notNow(`: ${error.message}`)
  }

  /** Writes the newest of what is to be written; what is left of very much follows by and by. */
  async catchUp(): Promise<void> {
    for (const source of [this.#documents, this.#rows])
      for (let left = source.beforeQuestion; left > 0 && (await this.#next(source)); left--);
  }

  /** Resolves once nothing of it is under way any more. */
  async close(): Promise<void> {
    this.#unwatch()
    this.#stop.abort()
    await this.#running
    await this.#turn
  }

  /** Within the write: it only takes note of a change; without one, that anything may have changed. */
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
          // It comes up again behind the others.
          left.add(source)
          await this.#pause(source.rest * (performance.now() - began))
        }
      }
    } catch {
      // It closes, or the disk fails: a question says so, and the next change tries again.
      this.#behind.add(this.#rows)
    } finally {
      this.#running = undefined
    }
  }

  #pause(ms: number): Promise<void> {
    return wait(ms, undefined, { signal: this.#stop.signal, ref: false })
  }

  /** One at a time, whoever wants it. */
  #next(source: FeedSource): Promise<boolean> {
    const turn = this.#turn.then(() => source.next())
    this.#turn = turn.catch(() => undefined)
    return turn
  }
}

/** Whether something changed whose rows are searched now, or were before. */
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
/** Of the texts of the documents that are written in one go. */
const MAX_LENGTH_AT_ONCE = 2_000_000

/** Revisions, and artifacts without any, that are not found by their words yet: the newest first. */
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

  /** Undefined where the artifact is gone by now. What cannot be read is found by nothing. */
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

  /** Notes that an artifact cannot be read. Throws what is another reason. */
  #leaveOut(artifact: ArtifactView, error: unknown): undefined {
    const reason = damageOf(error, pathOf(artifact.family, artifact.slug))
    if (!reason) throw error
    this.#registry.index.leftOut(artifact, reason)
  }
}

/** Undefined where it is of a kind that is not asked, or cannot be decoded. */
async function embedsSomething({ artifact, stored }: Searched): Promise<boolean | undefined> {
  if (!artifact.family.mayEmbed || !stored?.payload) return undefined
  return stored.payload instanceof LargeDocument
    ? stored.payload.call(artifact.repository.objects, EMBED_SEARCH, 'holdsEmbed')
    : holdsEmbed(documentOf(stored.payload))
}

/** A revision of an artifact and the variant that it is found under, or the artifact by itself. Refuses what cannot be read. */
export async function searchedAt(artifact: ArtifactView, oid: string | undefined): Promise<Searched> {
  if (oid === undefined) return { artifact, variant: artifact.defaultVariant, stored: undefined }
  const stored = await artifact.revisions.readForList(artifact.repository.objects, oid)
  const heads = artifact.variants.filter(({ head }) => head === oid)
  if (heads.length === 1) return { artifact, variant: heads[0], stored }
  const variant = homeAmong(heads, stored.trailers.variant) ?? (await homeOf(artifact, oid))?.variant
  return { artifact, variant, stored }
}

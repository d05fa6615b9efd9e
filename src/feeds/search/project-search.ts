import type { Oid } from '../../git/objects.ts'
import type { JsonObject } from '../../base/json.ts'
import { rowAt, decodeRow, dedupIdOf } from '../../registry/testsets.ts'
import { isWithinLimits } from '../../base/folders.ts'
import { TimeSlice } from '../../base/scheduling.ts'
import {
  type DocumentKind,
  type DocumentPlace,
  type DocumentQuestion,
  type FoundDocument,
  tooBroad,
} from './index/find-documents.ts'
import type { RowHolder } from './index/search-rows.ts'
import type { SearchWork } from './index/search-work.ts'
import { rowsOfCommit } from './row-feed.ts'
import { searchedAt, SearchFeed } from './search-feed.ts'
import { type SearchField, type SearchText, textsOf, textsOfRow } from './texts-of.ts'
import type { Excerpt } from './words/excerpt.ts'
import { matchExpression, type Search } from './words/parse-search.ts'
import { DatabaseThread } from '../../storage/sqlite.ts'
import type { ArtifactView, VariantView } from '../../registry/artifacts.ts'
import { readBytes } from '../../registry/families.ts'
import {
  objectUuid,
  oidPrefix,
  repositoryDigits,
  damageOf,
  unknownCursor,
  type Window,
  type Windowing,
  type Registry,
} from '../../registry/registries.ts'
import {
  findRevisionById,
  latestOf,
  locate,
  readListedRevision,
  type Revision,
} from '../../registry/revisions.ts'

export interface SearchQuery {
  readonly search: Search
  readonly kinds: readonly DocumentKind[]
  /** Whether rows of testsets that opt in are searched too. */
  readonly withRows: boolean
  readonly includeHistory?: boolean | undefined
  readonly includeArchived?: boolean | undefined
  /** Finds only what lies in this folder; environments lie in none. */
  readonly folder?: string | undefined
  /** Whether that also means what lies below it. */
  readonly recursive?: boolean | undefined
  readonly windowing?: Pick<Windowing, 'limit' | 'next'> | undefined
}

/** A found artifact, revision or row, with the matching text. */
export interface SearchHit extends Excerpt {
  readonly artifact: ArtifactView
  /** Undefined if the artifact has none. */
  readonly revision: Revision | undefined
  readonly field: SearchField
  readonly place: SearchText['place'] | RowPlace
  readonly rank: number
}

/** A place in a testset. */
export interface RowPlace {
  /** The row's dedup id. */
  readonly row: string
  readonly column: string
}

/** A found artifact or revision, or the latest revision of a variant with a matching row. Without `oid`, an artifact that has no commit. */
export interface SearchedPlace {
  readonly artifact: ArtifactView
  readonly oid: Oid | undefined
}

const DEFAULT_HITS = 50
/** How many are looked at together where not all of them count. Each look searches anew, so each next one is at twice as many. */
const DOCUMENTS_AT_ONCE = 500
/** The time limit of a search, in milliseconds; and of all its looks. */
const MAX_SEARCH_MS = 1000
const MAX_LOOKS_MS = 5000

/** Searches a project's artifacts, revisions and rows by the words of names, messages and data. */
export class ProjectSearch {
  readonly #registry: Registry
  readonly #feed: SearchFeed

  /** The feed keeps the index of the whole project current; of what it finds, the search answers what is in this registry. */
  constructor(registry: Registry, feed: SearchFeed) {
    this.#registry = registry
    this.#feed = feed
  }

  /** The same for what a key that is limited to folders sees. */
  within(registry: Registry): ProjectSearch {
    return new ProjectSearch(registry, this.#feed)
  }

  /**
   * The hits of a query, best first. Refuses a query that takes too long with `query_too_broad`. If `signal` is aborted, rejects with its
   * reason.
   */
  async search(query: SearchQuery, signal?: AbortSignal): Promise<Window<SearchHit>> {
    const { search, windowing } = query
    const limit = windowing?.limit ?? DEFAULT_HITS
    const behind = windowing?.next === undefined ? undefined : await this.#placeOf(windowing.next)
    const question = await this.#questionOf(query)
    const slice = new TimeSlice(signal, () => tooBroad(MAX_LOOKS_MS), MAX_LOOKS_MS)
    const found = await this.#find(question, limit + 1, behind, query, slice)
    if (!found) throw unknownCursor(windowing?.next ?? '')
    const hits: SearchHit[] = []
    for (const document of found.slice(0, limit)) {
      const hit = await this.#hitOf(document, search)
      if (hit) hits.push(hit)
      // Reading a single hit may take a whole time slice.
      await slice.rest()
    }
    const last = found[limit - 1]
    return { rows: hits, next: found.length > limit && last ? this.#idOf(last) : undefined }
  }

  /** A page of what is found; what a limited registry does not hold, or lies elsewhere, is passed over, so that a page is as long as any. */
  async #find(
    question: DocumentQuestion,
    limit: number,
    behind: DocumentPlace | undefined,
    { folder, recursive = false }: Pick<SearchQuery, 'folder' | 'recursive'>,
    slice: TimeSlice,
  ): Promise<readonly FoundDocument[] | undefined> {
    const { index, limit: limited } = this.#registry
    if (!limited && folder === undefined) return this.#feed.ask('find', { question, page: { limit, behind } })
    const entry = folder !== undefined && recursive ? `${folder}/**` : folder
    const isWanted = ({ path }: FoundDocument): boolean => {
      const view = index.viewAt(path)
      if (!view || entry === undefined) return view !== undefined
      return !view.family.pins && isWithinLimits(view.record.folder ?? '', [entry])
    }
    const seen: FoundDocument[] = []
    let most = Math.max(limit, DOCUMENTS_AT_ONCE)
    for (let last = behind; seen.length < limit; most *= 2) {
      const found = await this.#feed.ask('find', { question, page: { limit: most, behind: last } })
      if (!found) return undefined
      for (const document of found) if (isWanted(document)) seen.push(document)
      last = found.at(-1)
      if (found.length < most) break
      await slice.rest()
    }
    return seen
  }

  /** All artifacts and revisions that match a query. Refuses a query that takes too long with `query_too_broad`. */
  async places(query: Omit<SearchQuery, 'windowing'>): Promise<SearchedPlace[]> {
    const found = await this.#feed.ask('places', { question: await this.#questionOf(query) })
    return found.flatMap(({ path, oid }) => {
      const artifact = this.#registry.index.viewAt(path)
      return artifact ? { artifact, oid } : []
    })
  }

  close(): Promise<void> {
    return this.#feed.close()
  }

  /** Updates the index, then builds its query. */
  async #questionOf(query: Omit<SearchQuery, 'windowing'>): Promise<DocumentQuestion> {
    const { search, kinds, withRows, includeHistory = false, includeArchived = false } = query
    const { index, families, limit } = this.#registry
    await index.refresh(
      families.filter(
        ({ folder, rowsFolder }) =>
          kinds.some(({ family }) => family === folder) || (withRows && rowsFolder !== undefined),
      ),
    )
    await this.#feed.catchUp()
    return {
      match: matchExpression(search),
      // What an environment is found by are words of all that was ever deployed there.
      kinds: limit ? kinds.filter(({ family }) => family !== this.#registry.environments.folder) : kinds,
      withRows,
      includeHistory,
      includeArchived,
      mostMs: MAX_SEARCH_MS,
    }
  }

  async #hitOf(found: FoundDocument, search: Search): Promise<SearchHit | undefined> {
    const { index } = this.#registry
    const { path, oid, rank } = found
    const artifact = index.viewAt(path)
    if (!artifact) return undefined
    try {
      if (found.row !== undefined) return await this.#rowHitOf(artifact, found, search)
      const searched = await searchedAt(artifact, oid)
      const best = await this.#bestOf(textsOf(searched), search)
      // The document has changed meanwhile.
      if (!best) return undefined
      const { variant } = searched
      const revision =
        variant && oid !== undefined
          ? await readListedRevision(await locate(artifact, variant, oid))
          : undefined
      const { field, place } = best.text
      return { artifact, revision, field, place, rank, ...best.excerpt }
    } catch (error) {
      const reason = damageOf(error, path)
      if (!reason) throw error
      index.leftOut(artifact, reason)
      return undefined
    }
  }

  async #rowHitOf(
    artifact: ArtifactView,
    { row: oid = '', holders = [], rank }: FoundDocument,
    search: Search,
  ): Promise<SearchHit | undefined> {
    const row = await heldRow(artifact, oid, holders)
    const best = row && (await this.#bestOf(textsOfRow(row.data), search))
    if (!best) return undefined
    const revision = await readListedRevision(await locate(artifact, row.variant, row.head))
    const place = { row: row.name, column: best.text.column }
    return { artifact, revision, field: 'data', place, rank, ...best.excerpt }
  }

  /** The text with most of the search terms, and its excerpt; computed in the thread, so that other requests are not delayed. */
  async #bestOf<T extends { readonly text: string }>(
    texts: readonly T[],
    search: Search,
  ): Promise<{ readonly text: T; readonly excerpt: Excerpt } | undefined> {
    const best = await this.#feed.ask('excerpt', { texts: texts.map(({ text }) => text), search })
    const text = best && texts[best.at]
    return text && { text, excerpt: { excerpt: best.excerpt, ranges: best.ranges } }
  }

  #idOf({ path, oid, row }: DocumentPlace): string | undefined {
    const artifact = this.#registry.index.viewAt(path)
    const object = oid ?? row
    return artifact && (object === undefined ? artifact.id : objectUuid(object, artifact.digits))
  }

  async #placeOf(id: string): Promise<DocumentPlace> {
    const artifact = await this.#registry.index.findByDigits(repositoryDigits(id))
    if (!artifact) throw unknownCursor(id)
    const path = `${artifact.family.folder}/${artifact.slug}`
    if (artifact.id === id) return { path }
    const revision = await findRevisionById(artifact, id)
    // Any other id is that of a row.
    return revision ? { path, oid: revision.oid } : { path, row: oidPrefix(id) }
  }
}

/** A row of a variant's latest revision. */
interface HeldRow {
  readonly variant: VariantView
  /** The revision's commit. */
  readonly head: Oid
  readonly data: JsonObject
  /** The row's dedup id; its oid if git brought it without one. */
  readonly name: string
}

/**
 * Finds the row in the default variant, or else in the oldest variant that has it; undefined if no latest revision has it any more. Refuses
 * unreadable data.
 */
async function heldRow(
  artifact: ArtifactView,
  oid: Oid,
  holders: readonly RowHolder[],
): Promise<HeldRow | undefined> {
  const { objects } = artifact.repository
  const positions = new Map(holders.map(({ slug, position }) => [slug, position]))
  const inOrder = [...new Set([artifact.defaultVariant, ...artifact.variants])]
  for (const variant of inOrder) {
    const position = variant && positions.get(variant.slug)
    const latest = position !== undefined && variant && (await latestOf(artifact, variant))
    if (!latest) continue
    const tree = await rowsOfCommit(artifact, latest.oid)
    if ((await rowAt(objects, tree, position))?.oid !== oid) continue
    const data = decodeRow(await readBytes(objects, oid, 'blob'), () => `the row ${oid}`)
    return { variant, head: latest.oid, data, name: dedupIdOf(data) ?? oid }
  }
  return undefined
}

/** The searches of all projects of a process, on one thread that starts with the first. */
export class OpenSearch {
  // The compiled name of the file next to this one.
  readonly #thread = new DatabaseThread<SearchWork>(new URL('./index/search-thread.js', import.meta.url))
  readonly #projects = new Map<Registry, ProjectSearch>()

  /** The search of a project, or of a part of one; the first call starts indexing. */
  of(registry: Registry): ProjectSearch {
    if (registry.limit) return this.of(registry.whole).within(registry)
    let search = this.#projects.get(registry)
    if (!search) {
      search = new ProjectSearch(registry, new SearchFeed(registry, this.#thread))
      this.#projects.set(registry, search)
    }
    return search
  }

  async close(): Promise<void> {
    for (const search of this.#projects.values()) await search.close()
    await this.#thread.stop(new Error('the search is closed'))
  }
}

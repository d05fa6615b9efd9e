import { Refusal } from '../errors.ts'
import type { Oid } from '../git/objects/object.ts'
import { DatabaseThread, DatabaseTrouble } from '../storage/sqlite/database-thread.ts'
import { objectUuid, repositoryDigits } from '../versioning/ids.ts'
import { damageOf } from '../versioning/index/damage-of.ts'
import type { Window, Windowing } from '../versioning/pagination.ts'
import { unknownCursor } from '../versioning/pagination.ts'
import type { Registry } from '../versioning/registry.ts'
import type { Revision } from '../versioning/revisions/revision.ts'
import { findRevisionById, locate, readListedRevision } from '../versioning/revisions/revision.ts'
import type { ArtifactView } from '../versioning/artifacts/artifact-view.ts'
import type { DocumentKind, DocumentPlace, FoundDocument } from './index/find-documents.ts'
import type { SearchField } from './index/documents.ts'
import type { SearchRequest, SearchWork } from './index/search-work.ts'
import { doSearchWork } from './index/search-work.ts'
import { SearchFeed } from './search-feed.ts'
import { searchedAt } from './searched-at.ts'
import type { SearchText } from './texts-of.ts'
import { textsOf } from './texts-of.ts'
import type { Excerpt } from './words/excerpt.ts'
import { excerptOf } from './words/excerpt.ts'
import { findTerms } from './words/find-terms.ts'
import { matchExpression } from './words/match-expression.ts'
import type { Search } from './words/parse-search.ts'

/** What is searched for, and where. */
export interface SearchQuery {
  readonly search: Search
  readonly kinds: readonly DocumentKind[]
  readonly includeHistory?: boolean | undefined
  readonly includeArchived?: boolean | undefined
  readonly windowing?: Pick<Windowing, 'limit' | 'next'> | undefined
}

/** An artifact or a revision that was found, and by what of it. */
export interface SearchHit extends Excerpt {
  readonly artifact: ArtifactView
  /** Undefined where the artifact has none. */
  readonly revision: Revision | undefined
  readonly field: SearchField
  readonly place: SearchText['place']
  readonly rank: number
}

/** An artifact or a revision of it that was found; without an id of a commit, an artifact that has none. */
export interface SearchedPlace {
  readonly artifact: ArtifactView
  readonly oid: Oid | undefined
}

/** So many hits are answered where nobody says how many. */
const LIMIT = 50
/** How long a search may take, in milliseconds. */
const MOST_MS = 1000

/** Finds artifacts and revisions of a project by the words of their names, messages and data. */
export class ProjectSearch {
  readonly #registry: Registry
  readonly #thread: DatabaseThread<SearchWork>
  readonly #feed: SearchFeed

  /** `thread` has a connection of its own to the project's index; see search-thread. */
  constructor(registry: Registry, thread: DatabaseThread<SearchWork>) {
    this.#registry = registry
    this.#thread = thread
    this.#feed = new SearchFeed(registry, (documents) => this.#ask('write', { documents }))
  }

  /** The hits of a query, the best first. Refuses with `query_too_broad` what finds too much. */
  async search(query: SearchQuery): Promise<Window<SearchHit>> {
    const { search, windowing } = query
    const limit = windowing?.limit ?? LIMIT
    const behind = windowing?.next === undefined ? undefined : await this.#placeOf(windowing.next)
    const found = await this.#find(query, { limit: limit + 1, behind })
    const hits: SearchHit[] = []
    for (const document of found.slice(0, limit)) {
      const hit = await this.#hitOf(document, search)
      if (hit) hits.push(hit)
    }
    const last = found[limit - 1]
    return { rows: hits, next: found.length > limit && last ? this.#idOf(last) : undefined }
  }

  /** Every artifact and revision that a query finds. Refuses with `query_too_broad` what takes too long. */
  async places(query: Omit<SearchQuery, 'windowing'>): Promise<SearchedPlace[]> {
    const found = await this.#find(query, {})
    return found.flatMap(({ path, oid }) => {
      const artifact = this.#registry.index.viewAt(path)
      return artifact ? { artifact, oid } : []
    })
  }

  async close(): Promise<void> {
    await this.#feed.close()
  }

  async #find(
    { search, kinds, includeHistory = false, includeArchived = false }: SearchQuery,
    page: { readonly limit?: number; readonly behind?: DocumentPlace | undefined },
  ): Promise<readonly FoundDocument[]> {
    await this.#registry.index.refresh(
      this.#registry.families.filter(({ folder }) => kinds.some(({ family }) => family === folder)),
    )
    await this.#feed.catchUp()
    if (kinds.length === 0) return []
    const question = {
      match: matchExpression(search),
      kinds,
      includeHistory,
      includeArchived,
      mostMs: MOST_MS,
      ...page,
    }
    const found = await this.#ask('find', { question })
    if (found) return found
    throw unknownCursor(page.behind ? (this.#idOf(page.behind) ?? '') : '')
  }

  async #hitOf({ path, oid, rank }: FoundDocument, search: Search): Promise<SearchHit | undefined> {
    const { index } = this.#registry
    const artifact = index.viewAt(path)
    if (!artifact) return undefined
    try {
      const searched = await searchedAt(this.#registry, artifact, oid)
      const [best] = textsOf(searched)
        .map((text) => ({ text, found: findTerms(text.text, search) }))
        .filter(({ found }) => found.terms > 0)
        .sort((a, b) => b.found.terms - a.found.terms)
      // It is another one by now.
      if (!best) return undefined
      const { variant } = searched
      const revision =
        variant && oid !== undefined
          ? await readListedRevision(this.#registry, await locate(artifact, variant, oid))
          : undefined
      const { field, place, text } = best.text
      return { artifact, revision, field, place, rank, ...excerptOf(text, best.found.ranges) }
    } catch (error) {
      const reason = damageOf(error, path)
      if (!reason) throw error
      index.leftOut(artifact, reason)
      return undefined
    }
  }

  #idOf({ path, oid }: DocumentPlace): string | undefined {
    const artifact = this.#registry.index.viewAt(path)
    return artifact && (oid === undefined ? artifact.id : objectUuid(oid, artifact.digits))
  }

  async #placeOf(id: string): Promise<DocumentPlace> {
    const artifact = await this.#registry.index.findByDigits(repositoryDigits(id))
    if (!artifact) throw unknownCursor(id)
    const path = `${artifact.family.folder}/${artifact.slug}`
    if (artifact.id === id) return { path, oid: undefined }
    const revision = await findRevisionById(this.#registry, artifact, id)
    if (!revision) throw unknownCursor(id)
    return { path, oid: revision.oid }
  }

  /** Has work done on the thread, or here where the index is in memory. */
  async #ask<N extends keyof SearchWork>(
    work: N,
    asks: SearchWork[N]['asks'],
  ): Promise<SearchWork[N]['answers']> {
    const { database } = this.#registry.index
    const { file } = database
    try {
      if (typeof file === 'string') return await this.#thread.call(work, file, asks)
      if (file) return doSearchWork(file, { work, asks } as SearchRequest) as SearchWork[N]['answers']
    } catch (error) {
      if (!(error instanceof DatabaseTrouble)) throw error
      if (error.isDamage) await database.damaged(error.message)
      throw new Refusal(
        'storage_unavailable',
        `The index cannot be searched now: ${error.message}. Ask again in a moment.`,
      )
    }
    throw new Refusal('storage_unavailable', 'The index cannot be searched now. Ask again in a moment.')
  }
}

import { EMBED_SEARCH, holdsEmbed } from '../embeds/syntax/find-embeds.ts'
import { TimeSlice } from '../scheduling/cooperative.ts'
import { documentOf } from '../versioning/family/document-family.ts'
import { asLarge } from '../versioning/family/large-document.ts'
import type { Unsearched } from '../versioning/index/database/unsearched.ts'
import { unlessDamaged } from '../versioning/index/unless-damaged.ts'
import type { Registry } from '../versioning/registry.ts'
import type { SearchDocument } from './index/documents.ts'
import { SEARCH_FIELDS } from './index/documents.ts'
import type { AskIndex } from './index/search-work.ts'
import type { FeedSource } from './search-feed.ts'
import { searchedAt } from './searched-at.ts'
import type { Searched } from './texts-of.ts'
import { textsOf } from './texts-of.ts'

/** So many documents, or units of their texts, are written in one go. */
const BATCH = 25
const LONG = 2_000_000

/** Revisions, and artifacts without any, that are not found by their words yet: the newest first. */
export class DocumentFeed implements FeedSource {
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
    let units = 0
    for (const one of this.#registry.index.database.unsearched(BATCH)) {
      const document = await this.#documentOf(one)
      if (document) documents.push(document)
      units += document ? lengthOf(document) : 0
      if (units > LONG) break
      await slice.pause()
    }
    return documents.length > 0 && (await this.#ask('write', { documents })) > 0
  }

  /** Undefined where the artifact is gone by now. What cannot be read is found by nothing. */
  async #documentOf({ number, path, oid }: Unsearched): Promise<SearchDocument | undefined> {
    const artifact = this.#registry.index.viewAt(path)
    if (!artifact) return undefined
    const read = () => searchedAt(this.#registry, artifact, oid)
    const searched = await unlessDamaged(this.#registry, artifact, read)
    const found = searched ? textsOf(searched) : []
    const texts = SEARCH_FIELDS.map((field) => [
      field,
      found.flatMap((it) => (it.field === field ? it.text : [])),
    ])
    // Every field is among them.
    return {
      number,
      oid,
      meta: artifact.metaCommit,
      texts: Object.fromEntries(texts) as SearchDocument['texts'],
      embeds: searched && (await embedsSomething(searched)),
    }
  }
}

function lengthOf({ texts }: SearchDocument): number {
  return Object.values(texts).reduce((sum, some) => sum + some.reduce((all, text) => all + text.length, 0), 0)
}

/** Undefined where it is of a kind that is not asked, or cannot be decoded. */
async function embedsSomething({ artifact, stored }: Searched): Promise<boolean | undefined> {
  if (!artifact.family.mayEmbed || !stored?.payload) return undefined
  const large = asLarge(stored.payload)
  return large
    ? large.call(artifact.repository.objects, EMBED_SEARCH, 'holdsEmbed')
    : holdsEmbed(documentOf(stored.payload))
}

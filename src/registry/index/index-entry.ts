import { crc32 } from 'node:zlib'
import { z } from 'zod'
import type { LRUCache } from 'lru-cache'
import { recentlyUsed } from '../../base/recently-used.ts'
import type { SavedRefs } from '../../git/refs.ts'
import type { Repository } from '../../git/store.ts'
import { parseJson, stringifyJson } from '../../base/json.ts'
import { type ArtifactView, type VariantView, composeView, variantsOf } from '../artifacts/artifact-view.ts'
import {
  archivedRecord,
  type ArtifactRecord,
  artifactRecord,
  variantRecord,
} from '../artifacts/artifact-record.ts'
import type { Family } from '../payload/family.ts'
import { repositoryDigits } from '../store/ids.ts'
import type { RevisionCache } from '../revisions/stored-revision.ts'
import { claimDate } from '../slugs/slug.ts'

/** The facts about an artifact that the index always has, whether or not its repository was looked at. */
export interface ArtifactNames {
  readonly slug: string
  /** The date since when the slug is this artifact's: its creation. */
  readonly since: string
  readonly variants: Iterable<DatedSlug>
  readonly tags: Iterable<DatedSlug>
}

/** A slug and its date; see ArtifactView.tagsSince. */
export type DatedSlug = readonly [slug: string, since: string]

/** The row of an artifact in the index file, from which its view is made on first use. */
export interface RestoredArtifact {
  readonly id: string
  readonly createdAt: string
  readonly names: () => ArtifactNames
  /** The record as JSON … */
  readonly recordJson: string
  readonly record: () => ArtifactRecord
  /** … and the other parts of the view. */
  readonly viewJson: string
  /** The same as in its view, without making the view. */
  readonly isUnrecorded: boolean
  /** The same text as long as `ProjectStore.stamps` answers it. */
  readonly stamps: string
  readonly view: () => ArtifactView
}

/** A change of a path in the index: another view, or none, because nothing is there or it cannot be read. */
export interface ArtifactChange {
  readonly family: Family
  readonly slug: string
  /** `<family>/<slug>`. */
  readonly path: string
  readonly id: string
  readonly view: ArtifactView | undefined
  /** The entry before (see viewOf); undefined if there was none. */
  readonly before: ArtifactView | RestoredArtifact | undefined
}

/** The recently used views of artifacts. Others can be made again. */
export type ViewCache = LRUCache<IndexEntry, ArtifactView>

/** A view takes about 7 KB, and more with the objects that were read through it. */
const MAX_VIEWS = 10_000

/** One for each project. */
export function viewCache(most = MAX_VIEWS): ViewCache {
  return recentlyUsed(most, () => 1)
}

/**
 * One artifact of the index, with its last view. A view that is also in the index file is dropped when others were used since. While somebody
 * holds a view, nobody gets a second one of it.
 */
export class IndexEntry {
  readonly path: string
  readonly family: Family
  readonly slug: string
  readonly #views: ViewCache
  /** The view, or its row in the index file. */
  from: ArtifactView | RestoredArtifact
  /** Whether the name of its folder is a slug; computed on first use. */
  isSlug: boolean | undefined
  /** What was made of `from`. */
  #made: WeakRef<ArtifactView> | undefined
  /** Whether it is unchanged since it was restored from its row in the index file. */
  isAsRestored: boolean
  /** Whether this process has looked at the whole repository, and not only at its refs. */
  wasLookedAt: boolean

  constructor(family: Family, slug: string, from: ArtifactView | RestoredArtifact, views: ViewCache) {
    this.path = pathOf(family, slug)
    this.family = family
    this.slug = slug
    this.#views = views
    this.from = from
    this.isAsRestored = !isSeen(from)
    this.wasLookedAt = isSeen(from)
  }

  get view(): ArtifactView {
    const from = this.from
    if (isSeen(from)) return from
    const kept = this.#views.get(this)
    if (kept) return kept
    const view = this.#made?.deref() ?? from.view()
    this.#keep(view)
    return view
  }

  /** Whether a view is of the same artifact, with the same names and dates. */
  isNamedLike({ id, record, variants, tagsSince }: ArtifactView): boolean {
    const { from } = this
    if (!isSeen(from) || from.id !== id || from.record.created_at !== record.created_at) return false
    if (from.variants.length !== variants.length || from.tagsSince.size !== tagsSince.size) return false
    const isSame = (a: VariantView, b: VariantView | undefined): boolean =>
      a.slug === b?.slug && a.since === b.since
    if (!variants.every((variant, at) => isSame(variant, from.variants[at]))) return false
    return [...tagsSince].every(([slug, since]) => from.tagsSince.get(slug) === since)
  }

  set view(view: ArtifactView) {
    this.isAsRestored = false
    this.wasLookedAt = true
    this.from = view
    this.#made = undefined
    this.#views.delete(this)
  }

  /** The view, if it is in memory. */
  get seen(): ArtifactView | undefined {
    return isSeen(this.from) ? this.from : this.#made?.deref()
  }

  /** Call it once the index file has the view. It may be dropped from then on. */
  saved(view: ArtifactView, as: RestoredArtifact): void {
    if (this.from !== view) return
    this.from = as
    this.#keep(view)
  }

  #keep(view: ArtifactView): void {
    if (this.#made?.deref() !== view) this.#made = new WeakRef(view)
    this.#views.set(this, view)
  }

  get id(): string {
    return this.from.id
  }

  /** The 12 hex digits that end every id of the artifact. */
  get digits(): string {
    return repositoryDigits(this.from.id)
  }

  get createdAt(): string {
    const from = this.from
    return isSeen(from) ? from.record.created_at : from.createdAt
  }

  get names(): ArtifactNames {
    const from = this.from
    return isSeen(from) ? namesOf(from) : from.names()
  }

  /** Read from the row, if the view is not in memory. */
  get record(): ArtifactRecord {
    const from = this.from
    return this.seen?.record ?? (isSeen(from) ? from.record : from.record())
  }

  /** False if the record does not contain this JSON text, which is seen without parsing it. */
  mayHold(json: string): boolean {
    return isSeen(this.from) || this.from.recordJson.includes(json)
  }

  /** False where the repository has no such ref. */
  mayHaveRef(ref: string): boolean {
    const from = this.from
    return isSeen(from) ? from.source.refs.refs.has(ref) : from.viewJson.includes(`"${ref}"`)
  }

  /** Whether the date of a branch or tag is known only to this process or the index file. */
  get isUnrecorded(): boolean {
    return this.from.isUnrecorded
  }

  /** Read from the row, if the view is not in memory. */
  get restored(): RestoredArtifact | undefined {
    return this.seen || isSeen(this.from) ? undefined : this.from
  }
}

/** Every slug of a view's artifact. */
export function namesOf({ slug, record, variants, tagsSince }: ArtifactView): ArtifactNames {
  return {
    slug,
    since: claimDate(record.created_at),
    variants: variants.map((variant) => [variant.slug, variant.since]),
    tags: tagsSince,
  }
}

/** The view of an entry, made if necessary. */
export function viewOf(from: ArtifactView | RestoredArtifact): ArtifactView {
  return isSeen(from) ? from : from.view()
}

function isSeen(from: ArtifactView | RestoredArtifact): from is ArtifactView {
  return 'repository' in from
}

/** The path of an artifact in its project: `<family>/<slug>`. */
export function pathOf(family: Family, slug: string): string {
  return `${family.folder}/${slug}`
}

/** For two repositories with one artifact id: whether the first is the original. The folder of the original has the name that it was made with. */
export function isOriginal(view: ArtifactView, rival: ArtifactView): boolean {
  const [mine, theirs] = [view.record.slug === view.slug, rival.record.slug === rival.slug]
  return mine === theirs ? view.slug < rival.slug : mine
}

/** Oldest first. */
export function entriesByCreation(a: IndexEntry, b: IndexEntry): number {
  return a.createdAt < b.createdAt ? -1 : a.createdAt > b.createdAt ? 1 : a.id < b.id ? -1 : 1
}

/** A longer text is not saved: it would be read without a pause. The next start reads the repository. */
const MAX_SAVED_LENGTH = 64 * 1024

/**
 * The view as text, for the next process: lines with the facts that the index has of every artifact, a line with the record, and JSON with the
 * other parts. Undefined if the repository has just changed, was changed by somebody else, or if the text would be too long.
 */
export function saveView(view: ArtifactView): string | undefined {
  const { id, record, repository, source, metaCommit, tags, variants } = view
  const saved = repository.refs.save()
  if (!saved || repository.refs.latest !== source.refs) return undefined
  const { stamps, ...refs } = saved
  const { archived, variants: recorded } = source.state
  const pushed = variants.filter(({ slug }) => !recorded.has(slug))
  const { tagsSince, isUnrecorded } = view
  const parts: Saved = {
    refs,
    meta: metaCommit,
    variants: [...recorded],
    archived: [...archived],
    pushed: pushed.map((variant) => [variant.slug, variant.record]),
    tags: [...tags],
    tagDates: source.state.tags ? [...source.state.tags] : null,
    // The last one; see UNRECORDED.
    unrecorded: isUnrecorded,
  }
  const names = [
    variants.map(({ slug, since }) => `${slug} ${since}`).join(' '),
    Array.from(tagsSince, (dated) => dated.join(' ')).join(' '),
  ]
  const json = [stringifyJson(record), stringifyJson(parts)]
  const text = [id, record.created_at, stamps, ...names, ...json].join('\n')
  return text.length > MAX_SAVED_LENGTH ? undefined : `${sumOf(view.slug, text)}\n${text}`
}

/** The facts about an artifact from its saved text; undefined if the text was changed. `open` opens the repository with its saved refs. */
export function savedArtifact(
  revisions: RevisionCache,
  slug: string,
  saved: string,
  open: (refs: SavedRefs) => Repository,
): RestoredArtifact | undefined {
  const sum = saved.slice(0, saved.indexOf('\n'))
  const text = saved.slice(sum.length + 1)
  if (sum !== sumOf(slug, text)) return undefined
  const lines = text.split('\n', LINES_BEFORE_JSON)
  const [id = '', createdAt = '', stamps = '', variants = '', tags = '', record = ''] = lines
  const json = text.slice(lines.reduce((length, line) => length + line.length + 1, 0))
  return {
    id,
    createdAt,
    stamps,
    names: () => ({ slug, since: claimDate(createdAt), variants: datedIn(variants), tags: datedIn(tags) }),
    recordJson: record,
    record: () => artifactRecord.parse(parseJson(record)),
    viewJson: json,
    isUnrecorded: json.endsWith(UNRECORDED),
    view: () => restoreView({ revisions, slug, stamps, record, text: json, variants, tags }, open),
  }
}

/** A flipped bit changes the checksum. */
function sumOf(slug: string, text: string): string {
  return crc32(`${slug} ${text}`).toString(16)
}

const LINES_BEFORE_JSON = 6

/** The end of the JSON of an unrecorded view: a start looks for it in very many texts, without parsing them. */
const UNRECORDED = '"unrecorded":true}'

/** Slugs and dates alternate; neither contains a space. */
function datedIn(text: string): DatedSlug[] {
  const words = text === '' ? [] : text.split(' ')
  return words.flatMap((word, at): DatedSlug[] => (at % 2 === 0 ? [[word, words[at + 1] ?? '']] : []))
}

interface SavedTexts extends Pick<RestoredArtifact, 'stamps'> {
  readonly revisions: RevisionCache
  readonly slug: string
  readonly record: string
  readonly text: string
  readonly variants: string
  readonly tags: string
}

/** Throws if the text was not made by `saveView`. */
function restoreView(saved: SavedTexts, open: (refs: SavedRefs) => Repository): ArtifactView {
  const { revisions, slug, stamps } = saved
  const artifact = artifactRecord.parse(parseJson(saved.record))
  const { refs, meta, variants, archived, pushed, tags, tagDates, unrecorded } = savedParts.parse(
    parseJson(saved.text),
  )
  const since = new Map(datedIn(saved.variants))
  const repository = open({ ...refs, stamps })
  const seen = repository.refs.latest
  return composeView({
    revisions,
    slug,
    repository,
    refs: seen,
    metaCommit: meta,
    state: {
      artifact,
      variants: new Map(variants),
      archived: new Map(archived),
      tags: tagDates ? new Map(tagDates) : undefined,
    },
    variants: variantsOf([...variants, ...pushed], seen, artifact.id, since),
    tags: new Map(tags),
    tagsSince: new Map(datedIn(saved.tags)),
    isUnrecorded: unrecorded,
  })
}

const oids = z.array(z.tuple([z.string(), z.string()]).readonly()).readonly()
const records = z.array(z.tuple([z.string(), variantRecord]))

const savedParts = z.object({
  refs: z.object({
    head: z.string().nullable(),
    packed: oids,
    packedNotes: oids,
    loose: z.array(oids).readonly(),
  }),
  meta: z.string(),
  /** By slug. */
  variants: records,
  /** By id of the revision. */
  archived: z.array(z.tuple([z.string(), archivedRecord])),
  /** Branches from git, which have no record in the repository. */
  pushed: records,
  /** Peeled. */
  tags: oids,
  /** In the form of records; null if there are none. */
  tagDates: oids.nullable(),
  unrecorded: z.boolean(),
})
type Saved = Readonly<z.infer<typeof savedParts>>

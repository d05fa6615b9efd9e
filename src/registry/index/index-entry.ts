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

/** What keeps an artifact's place in the index: known of every one, whether or not it was looked at. */
export interface ArtifactNames {
  readonly slug: string
  /** Since when it is this artifact's: its creation. */
  readonly since: string
  readonly variants: Iterable<DatedSlug>
  readonly tags: Iterable<DatedSlug>
}

/** A slug, and since when it is taken; see ArtifactView.tagsSince. */
export type DatedSlug = readonly [slug: string, since: string]

/** What an artifact's row in the index file says of it, whose view is made when somebody asks for it. */
export interface RestoredArtifact {
  readonly id: string
  readonly createdAt: string
  readonly names: () => ArtifactNames
  /** The record as JSON … */
  readonly recordJson: string
  readonly record: () => ArtifactRecord
  /** … and all else that the view is made of. */
  readonly viewJson: string
  /** As of its view; seen without making that. */
  readonly isUnrecorded: boolean
  /** What `ProjectStore.stamps` answers as long as nothing has changed. */
  readonly stamps: string
  readonly view: () => ArtifactView
}

/** What became of a place in the index: another view, or that nothing is there any more, or nothing that can be read. */
export interface ArtifactChange {
  readonly family: Family
  readonly slug: string
  /** `<family>/<slug>`. */
  readonly path: string
  readonly id: string
  readonly view: ArtifactView | undefined
  /** What was there before (see viewOf); undefined where nothing was. */
  readonly before: ArtifactView | RestoredArtifact | undefined
}

/** The views of artifacts that can be made again: those that were asked for last. */
export type ViewCache = LRUCache<IndexEntry, ArtifactView>

/** A view takes some 7 KB, and with what was read through it more. */
const MAX_VIEWS = 10_000

/** One for each project. */
export function viewCache(most = MAX_VIEWS): ViewCache {
  return recentlyUsed(most, () => 1)
}

/**
 * One artifact of the index, and the view it was last seen in. A view that the index file has, too, is let go of when others were asked
 * for since; as long as somebody holds it, nobody is given another one.
 */
export class IndexEntry {
  readonly path: string
  readonly family: Family
  readonly slug: string
  readonly #views: ViewCache
  /** What the view is, or is made of. */
  from: ArtifactView | RestoredArtifact
  /** Whether the name of its folder is a slug; known once somebody asked. */
  isSlug: boolean | undefined
  /** What was made of `from`. */
  #made: WeakRef<ArtifactView> | undefined
  /** Whether it is as its row in the index file says, which it was restored from. */
  isAsRestored: boolean
  /** Whether this process has looked at the whole repository, not at its refs alone. */
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

  /** Whether a view is of the same artifact with the same names, since the same dates. */
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

  /** The view, if it need not be made. */
  get seen(): ArtifactView | undefined {
    return isSeen(this.from) ? this.from : this.#made?.deref()
  }

  /** To be called once the index file has the view, which can be made from there from now on. */
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

  /** Of a view that would have to be made, it is read by itself. */
  get record(): ArtifactRecord {
    const from = this.from
    return this.seen?.record ?? (isSeen(from) ? from.record : from.record())
  }

  /** False where the record holds this text of JSON nowhere. That is seen without reading the record. */
  mayHold(json: string): boolean {
    return isSeen(this.from) || this.from.recordJson.includes(json)
  }

  /** False where the repository has no such ref. */
  mayHaveRef(ref: string): boolean {
    const from = this.from
    return isSeen(from) ? from.source.refs.refs.has(ref) : from.viewJson.includes(`"${ref}"`)
  }

  /** Whether only this process, or the index file, knows since when some branch or tag is there. */
  get isUnrecorded(): boolean {
    return this.from.isUnrecorded
  }

  /** Of one whose view would have to be made, what of. */
  get restored(): RestoredArtifact | undefined {
    return this.seen || isSeen(this.from) ? undefined : this.from
  }
}

/** Every slug that the artifact of a view has. */
export function namesOf({ slug, record, variants, tagsSince }: ArtifactView): ArtifactNames {
  return {
    slug,
    since: claimDate(record.created_at),
    variants: variants.map((variant) => [variant.slug, variant.since]),
    tags: tagsSince,
  }
}

/** The view that an entry was, made if need be. */
export function viewOf(from: ArtifactView | RestoredArtifact): ArtifactView {
  return isSeen(from) ? from : from.view()
}

function isSeen(from: ArtifactView | RestoredArtifact): from is ArtifactView {
  return 'repository' in from
}

/** Where an artifact is in its project: `<family>/<slug>`. */
export function pathOf(family: Family, slug: string): string {
  return `${family.folder}/${slug}`
}

/** Of two repositories with one artifact id, whether the first is the original: its folder has the name it was made with. */
export function isOriginal(view: ArtifactView, rival: ArtifactView): boolean {
  const [mine, theirs] = [view.record.slug === view.slug, rival.record.slug === rival.slug]
  return mine === theirs ? view.slug < rival.slug : mine
}

/** Oldest first. */
export function entriesByCreation(a: IndexEntry, b: IndexEntry): number {
  return a.createdAt < b.createdAt ? -1 : a.createdAt > b.createdAt ? 1 : a.id < b.id ? -1 : 1
}

/** What is longer is made from the repository at the next start: it would be read at one go. */
const MAX_SAVED_LENGTH = 64 * 1024

/**
 * The view as text, for the next process to begin with: lines of what the index has of every artifact, a line with its record, and JSON
 * with all else that the view is made of. Undefined where the repository was written to just now, or by somebody else meanwhile, or where it would be long.
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

/**
 * What is known of the artifact without its view; undefined where the text is not as it was saved. `open` answers the repository, with what was
 * seen of its refs.
 */
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

/** Another one where a bit has flipped. */
function sumOf(slug: string, text: string): string {
  return crc32(`${slug} ${text}`).toString(16)
}

const LINES_BEFORE_JSON = 6

/** How the JSON of an unrecorded view ends: a start looks for those of very many, and does not parse each one for that. */
const UNRECORDED = '"unrecorded":true}'

/** Slugs and dates by turns; neither holds a space. */
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

/** Throws if the text is none of `saveView`. */
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
  /** Of branches that git brought, which have no record in the repository. */
  pushed: records,
  /** Peeled. */
  tags: oids,
  /** As they are recorded; null where none are. */
  tagDates: oids.nullable(),
  unrecorded: z.boolean(),
})
type Saved = Readonly<z.infer<typeof savedParts>>

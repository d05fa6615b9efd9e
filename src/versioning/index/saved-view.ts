import { crc32 } from 'node:zlib'
import { z } from 'zod'
import type { SavedRefs } from '../../git/refs/ref-store.ts'
import type { Repository } from '../../git/repository.ts'
import { parseJson } from '../../json/parse-json.ts'
import { stringifyJson } from '../../json/stringify-json.ts'
import type { ArtifactView } from '../artifacts/artifact-view.ts'
import { composeView, variantsOf } from '../artifacts/artifact-view.ts'
import type { DatedSlug, RestoredArtifact } from './index-entry.ts'
import { archivedRecord, artifactRecord, variantRecord } from '../artifacts/records.ts'
import type { Family } from '../family/family.ts'
import { claimDate } from '../slugs/slug.ts'

/** What is longer is made from the repository at the next start: it would be read at one go. */
const LONGEST = 64 * 1024

/**
 * The view as text, for the next process to begin with: lines of what the index has of every artifact, a line with its record, and JSON
 * with all else that the view is made of. Undefined where the repository was written to just now, or by somebody else meanwhile, or where it would be long.
 */
export function saveView(view: ArtifactView): string | undefined {
  const { id, record, repository, source, metaCommit, tags, variants } = view
  const saved = repository.saveRefs()
  if (!saved || repository.writtenRefs() !== source.refs) return undefined
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
  return text.length > LONGEST ? undefined : `${sumOf(view.slug, text)}\n${text}`
}

/**
 * What is known of the artifact without its view; undefined where the text is not as it was saved. `open` answers the repository, with what was
 * seen of its refs.
 */
export function savedArtifact(
  family: Family,
  slug: string,
  saved: string,
  open: (refs: SavedRefs) => Repository,
): RestoredArtifact | undefined {
  const sum = saved.slice(0, saved.indexOf('\n'))
  const text = saved.slice(sum.length + 1)
  if (sum !== sumOf(slug, text)) return undefined
  const lines = text.split('\n', LINES)
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
    view: () => restoreView({ family, slug, stamps, record, text: json, variants, tags }, open),
  }
}

/** Another one where a bit has flipped. */
function sumOf(slug: string, text: string): string {
  return crc32(`${slug} ${text}`).toString(16)
}

/** So many lines are in front of the JSON. */
const LINES = 6

/** How the JSON of an unrecorded view ends: a start looks for those of very many, and does not parse each one for that. */
const UNRECORDED = '"unrecorded":true}'

/** Slugs and dates by turns; neither holds a space. */
function datedIn(text: string): DatedSlug[] {
  const words = text === '' ? [] : text.split(' ')
  return words.flatMap((word, at): DatedSlug[] => (at % 2 === 0 ? [[word, words[at + 1] ?? '']] : []))
}

interface SavedTexts extends Pick<RestoredArtifact, 'stamps'> {
  readonly family: Family
  readonly slug: string
  readonly record: string
  readonly text: string
  readonly variants: string
  readonly tags: string
}

/** Throws if the text is none of `saveView`. */
function restoreView(saved: SavedTexts, open: (refs: SavedRefs) => Repository): ArtifactView {
  const { family, slug, stamps } = saved
  const artifact = artifactRecord.parse(parseJson(saved.record))
  const { refs, meta, variants, archived, pushed, tags, tagDates, unrecorded } = savedParts.parse(
    parseJson(saved.text),
  )
  const since = new Map(datedIn(saved.variants))
  const repository = open({ ...refs, stamps })
  const seen = repository.writtenRefs()
  return composeView({
    family,
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

import { z } from 'zod'
import type { SavedRefs } from '../../git/refs/ref-store.ts'
import type { Repository } from '../../git/repository.ts'
import { parseJson } from '../../json/parse-json.ts'
import { stringifyJson } from '../../json/stringify-json.ts'
import type { ArtifactView } from '../artifacts/artifact-view.ts'
import { composeView, variantsOf } from '../artifacts/artifact-view.ts'
import { archivedRecord, artifactRecord, variantRecord } from '../artifacts/records.ts'
import type { Family } from '../family/family.ts'

/** What is longer is made from the repository at the next start: it would be read at one go. */
const LONGEST = 64 * 1024

/** What the next process needs of an artifact to have its view without a look into the repository. */
export interface SavedView {
  /** See repositoryStamps. */
  readonly stamps: string
  readonly text: string
}

/** The view as text; undefined where the repository was written to just now, or by somebody else meanwhile, or where it would be long. */
export function saveView(view: ArtifactView): SavedView | undefined {
  const { repository, source, metaCommit, tags, variants } = view
  const refs = repository.saveRefs()
  if (!refs || repository.writtenRefs() !== source.refs) return undefined
  const { artifact, archived, variants: recorded } = source.state
  const pushed = variants.filter(({ slug }) => !recorded.has(slug))
  const saved: Saved = {
    refs,
    meta: metaCommit,
    artifact,
    variants: [...recorded],
    archived: [...archived],
    pushed: pushed.map(({ slug, record }) => [slug, record]),
    tags: [...tags],
  }
  const text = stringifyJson(saved)
  return text.length > LONGEST ? undefined : { stamps: refs.stamps, text }
}

/** The view that was saved. `open` answers the repository, with what was seen of its refs. Throws if the text is not of `saveView`. */
export function restoreView(
  family: Family,
  slug: string,
  text: string,
  open: (refs: SavedRefs) => Repository,
): ArtifactView {
  const { refs, meta, artifact, variants, archived, pushed, tags } = savedView.parse(parseJson(text))
  const repository = open(refs)
  const seen = repository.writtenRefs()
  return composeView({
    family,
    slug,
    repository,
    refs: seen,
    metaCommit: meta,
    state: { artifact, variants: new Map(variants), archived: new Map(archived) },
    variants: variantsOf([...variants, ...pushed], seen, artifact.id),
    tags: new Map(tags),
  })
}

const oids = z.array(z.tuple([z.string(), z.string()]).readonly()).readonly()
const records = z.array(z.tuple([z.string(), variantRecord]))

const savedView = z.object({
  refs: z.object({
    stamps: z.string(),
    head: z.string().nullable(),
    packed: oids,
    packedNotes: oids,
    loose: z.array(oids).readonly(),
  }),
  meta: z.string(),
  artifact: artifactRecord,
  /** By slug. */
  variants: records,
  /** By id of the revision. */
  archived: z.array(z.tuple([z.string(), archivedRecord])),
  /** Of branches that git brought, which have no record in the repository. */
  pushed: records,
  /** Peeled. */
  tags: oids,
})
type Saved = Readonly<z.infer<typeof savedView>>

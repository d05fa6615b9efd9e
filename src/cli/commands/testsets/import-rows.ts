import type { KeyAuthor } from '../../../access/key-author.ts'
import { collectFile } from '../../../resources/testsets/import/collect-file.ts'
import type { RowFile } from '../../../resources/testsets/import/files/read-file.ts'
import type { Uploaded } from '../../../resources/testsets/import/upload-testset.ts'
import { commitFile } from '../../../resources/testsets/import/upload-testset.ts'
import type { ArtifactView } from '../../../versioning/artifacts/artifact-view.ts'
import { TimeSlice } from '../../../scheduling/cooperative.ts'
import { assertActive } from '../../../versioning/artifacts/write-guards.ts'
import { assertArtifactSlugFree } from '../../../versioning/slugs/claim-slugs.ts'
import { createArtifact } from '../../../versioning/artifacts/create-artifact.ts'
import { editArtifact } from '../../../versioning/artifacts/edit-artifact.ts'
import type { Revision, RevisionLocation } from '../../../versioning/revisions/revision.ts'
import { latestOf, readRevisionAt } from '../../../versioning/revisions/revision.ts'
import type { OpenTestsets } from './open-testsets.ts'
import { rowsHeld } from './rows-held.ts'

/** What an import is asked for. */
export interface RowImport {
  readonly file: RowFile
  readonly slug: string
  readonly name: string | undefined
  readonly message: string | undefined
  /** Whether rows that the testset has already make no revision; they do otherwise. */
  readonly ifChanged?: boolean
  readonly author: KeyAuthor
  readonly signal: AbortSignal
}

/** What an import stored. */
export interface ImportedRows {
  /** Whether the testset was made for it. */
  readonly isNew: boolean
  /** Whether a revision was made. */
  readonly changed: boolean
  readonly revision: Revision
  readonly rows: number
  /** What became of the file. */
  readonly file: Uploaded['file']
}

/**
 * Makes a testset of a file's rows, or a revision of the testset that has the slug. Refuses a bad file, a slug that differs
 * from a taken one in case only, and what is archived; then, and when it is stopped, nothing is stored.
 */
export async function importRows(testsets: OpenTestsets, wanted: RowImport): Promise<ImportedRows> {
  const { registry, family } = testsets
  const { slug } = wanted
  const found = await registry.index.findBySlug(family, slug)
  // What could only be refused in the end is refused before a large file is read.
  if (found) assertActive('artifact', slug, found.record)
  else await assertArtifactSlugFree(registry, family, slug, ['--slug'])
  const { place, changed, file } = found
    ? await commitTo(testsets, found, wanted)
    : await create(testsets, wanted)
  const revision = await readRevisionAt(registry, place)
  return { isNew: !found, changed, revision, rows: await rowsHeld(revision), file }
}

interface StoredImport extends Uploaded {
  readonly place: RevisionLocation
  readonly changed: boolean
}

async function create(
  { registry, family, limits }: OpenTestsets,
  { slug, name, file, message, author, signal }: RowImport,
): Promise<StoredImport> {
  const aside = await registry.store.prepare(family.folder)
  try {
    const payload = await collectFile(file, aside.packBuilder(), undefined, limits, new TimeSlice(signal))
    const revision = { message, payload }
    const artifact = await createArtifact(
      registry,
      family,
      { slug, header: { name }, withVariant: { revision }, aside, loc: ['--slug'] },
      { actor: actorOf(author) },
    )
    return { place: await firstRevisionOf(artifact), changed: true, file: payload }
  } finally {
    aside.discard()
  }
}

async function firstRevisionOf(artifact: ArtifactView): Promise<RevisionLocation> {
  const place = artifact.defaultVariant && (await latestOf(artifact, artifact.defaultVariant))
  if (place) return place
  throw new Error(`the testset ${artifact.slug} was made without a revision`)
}

async function commitTo(
  testsets: OpenTestsets,
  artifact: ArtifactView,
  wanted: RowImport,
): Promise<StoredImport> {
  const { registry, limits } = testsets
  const { file, name, message, ifChanged, author, signal } = wanted
  const context = { actor: actorOf(author) }
  const variant = artifact.defaultVariant
  if (variant) assertActive('variant', variant.slug, variant.record)
  const input = { message, header: {}, loc: [], ifChanged }
  const {
    place,
    changed,
    file: came,
  } = await commitFile(
    registry,
    { artifact, ...(variant ? { variant } : {}) },
    file,
    input,
    limits,
    context,
    signal,
  )
  if (name === undefined || name === artifact.record.name) return { place, changed, file: came }
  const renamed = await editArtifact(registry, place.artifact, { name }, context)
  return { place: { ...place, artifact: renamed }, changed, file: came }
}

/** Who has no key is known by what stands in the commits, as whoever pushes is. */
function actorOf({ name, email }: KeyAuthor) {
  return { id: `${name} <${email}>`, name, email }
}

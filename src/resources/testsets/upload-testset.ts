import type { ArtifactView } from '../../versioning/artifact-view.ts'
import type { WriteContext } from '../../versioning/change-artifact.ts'
import type { CommittedRevision, NewRevision } from '../../versioning/commit-revision.ts'
import { commitRevision } from '../../versioning/commit-revision.ts'
import type { NewArtifact } from '../../versioning/create-artifact.ts'
import { createArtifact } from '../../versioning/create-artifact.ts'
import type { Family } from '../../versioning/family.ts'
import type { VariantPlace } from '../../versioning/references.ts'
import type { Registry } from '../../versioning/registry.ts'
import type { RowFile } from './collect-file.ts'
import { collectFile } from './collect-file.ts'
import type { TestsetLimits } from './row-collector.ts'
import { allRows } from './stored-rows.ts'
import { asStored } from './testset-payload.ts'

/** Creates a testset whose first revision holds the rows of a file (interface 4.6). A bad file creates nothing. */
export async function createFromFile(
  registry: Registry,
  family: Family,
  file: RowFile,
  input: Omit<NewArtifact, 'withVariant' | 'aside'>,
  limits: TestsetLimits,
  context: WriteContext,
): Promise<ArtifactView> {
  const aside = await registry.store.prepare(family.folder)
  try {
    const payload = await collectFile(file, aside.packBuilder(), undefined, limits)
    return await createArtifact(
      registry,
      family,
      { ...input, withVariant: { revision: { payload } }, aside },
      context,
    )
  } finally {
    aside.discard()
  }
}

/** Commits a revision that holds the rows of a file, whatever the one before it held (ruling 5.4). */
export async function commitFile(
  registry: Registry,
  place: VariantPlace,
  file: RowFile,
  input: Omit<NewRevision, 'data' | 'delta' | 'payload'>,
  limits: TestsetLimits,
  context: WriteContext,
): Promise<CommittedRevision> {
  const { repository, family } = place.artifact
  const { objects } = repository
  const { head } = place.variant
  const latest =
    head === undefined ? undefined : (await registry.revisions(family).read(objects, head)).payload
  const rows = latest ? await allRows(objects, asStored(latest).tree) : []
  const payload = await collectFile(file, repository.packBuilder(), { source: objects, rows }, limits)
  try {
    return await commitRevision(registry, place, { ...input, payload }, context)
  } catch (error) {
    payload.pack?.discard()
    throw error
  }
}

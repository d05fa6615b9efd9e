import { TimeSlice } from '../../../base/scheduling.ts'
import { CacheFile } from '../../../storage/files.ts'
import type { ArtifactView } from '../../artifacts/artifact-view.ts'
import type { NewArtifact } from '../../artifacts/create-artifact.ts'
import { createArtifact } from '../../artifacts/create-artifact.ts'
import type { Family } from '../../payload/family.ts'
import type { Registry } from '../../store/registry.ts'
import type { CommittedRevision } from '../../revisions/commit-revision.ts'
import { commitRevision } from '../../revisions/commit-revision.ts'
import type { VariantLocation } from '../../revisions/references.ts'
import type { CommitRequest } from '../../revisions/write-revision.ts'
import { defaultVariantOrNew } from '../../variants/default-variant.ts'
import type { WriteContext } from '../../store/write-context.ts'
import { ROW_KEYS_FILE } from '../dedup/row-keys.ts'
import type { RowSource } from '../deltas/named-rows.ts'
import { allRows } from '../rows/stored-rows.ts'
import { asStored } from '../testset-payload.ts'
import type { CollectedFile } from './collect-file.ts'
import { collectFile } from './collect-file.ts'
import type { RowFile } from '../files/read-file.ts'
import type { TestsetLimits } from './row-collector.ts'

/** The result of a stored file. */
export interface Uploaded {
  readonly file: Pick<CollectedFile, 'met' | 'renamed'>
}

/**
 * Creates a testset whose first revision has the rows of a file (interface 8.16). An invalid file creates nothing. `gone` aborts the work
 * with its reason, until only storing is left.
 */
export async function createFromFile(
  registry: Registry,
  family: Family,
  file: RowFile,
  {
    message,
    ...input
  }: Omit<NewArtifact, 'withVariant' | 'aside'> & { readonly message?: string | undefined },
  limits: TestsetLimits,
  context: WriteContext,
  gone?: AbortSignal,
): Promise<Uploaded & { readonly artifact: ArtifactView }> {
  const aside = await registry.store.prepare(family.folder)
  try {
    const payload = await collectFile(file, aside.packBuilder(), undefined, limits, new TimeSlice(gone))
    const artifact = await createArtifact(
      registry,
      family,
      { ...input, withVariant: { revision: { payload, message } }, aside },
      context,
    )
    return { artifact, file: payload }
  } finally {
    aside.discard()
  }
}

/**
 * Commits a revision with the rows of a file; they replace all rows of the previous revision (interface 8.16). A testset without a variant
 * gets one, unless the file is invalid. `gone` works as above.
 */
export async function commitFile(
  registry: Registry,
  { artifact, variant }: Pick<VariantLocation, 'artifact'> & Partial<VariantLocation>,
  file: RowFile,
  input: Omit<CommitRequest, 'data' | 'delta' | 'payload'>,
  limits: TestsetLimits,
  context: WriteContext,
  gone?: AbortSignal,
): Promise<Uploaded & CommittedRevision> {
  const slice = new TimeSlice(gone)
  const { repository } = artifact
  const { objects } = repository
  const head = variant?.head
  const latest = head === undefined ? undefined : (await artifact.revisions.read(objects, head)).payload
  const tree = latest && asStored(latest).tree
  const replaced = {
    source: rowSource(artifact),
    tree,
    rows: await allRows(objects, tree, slice),
    derived: new CacheFile(repository.fs, `${repository.path}/${ROW_KEYS_FILE}`),
  }
  const payload = await collectFile(file, repository.packBuilder(), replaced, limits, slice)
  try {
    const place = variant ? { artifact, variant } : await defaultVariantOrNew(registry, artifact, context)
    return { ...(await commitRevision(registry, place, { ...input, payload }, context)), file: payload }
  } finally {
    // Also without a refusal: a repeated request finds its commit, and needs no pack.
    payload.pack?.discard()
  }
}

function rowSource({ id, repository, variants, tags }: ArtifactView): RowSource {
  const { objects } = repository
  return {
    artifactId: id,
    read: (oid) => objects.read(oid),
    readMany: (oids) => objects.readMany(oids),
    startingWith: (prefix) => objects.startingWith(prefix),
    tips: () => [...tags.values(), ...variants.flatMap(({ head }) => head ?? [])],
  }
}

import type { DiffRequest, DiffSide, PresentedDiff } from './family.ts'
import type { Registry } from './registry.ts'
import type { RevisionPlace } from './revision.ts'
import { readTree } from './tree-files.ts'

/** The difference between two revisions of a family, of one artifact or of two (rulings 3.16, 5.7). */
export async function diffRevisions(
  registry: Registry,
  base: RevisionPlace,
  head: RevisionPlace,
  asked: DiffRequest,
): Promise<PresentedDiff> {
  const { family } = base.artifact
  return family.diff(await readSide(registry, base), await readSide(registry, head), asked)
}

async function readSide(registry: Registry, { artifact, oid }: RevisionPlace): Promise<DiffSide> {
  const { objects } = artifact.repository
  const { payload, commit } = await registry.revisions(artifact.family).read(objects, oid)
  return {
    artifactId: artifact.id,
    source: objects,
    payload,
    entries: await readTree(objects, commit.tree),
  }
}

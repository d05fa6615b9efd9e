import type { Oid } from '../../../git/objects/object.ts'
import type { DatabaseFile } from '../../../storage/sqlite/database-file.ts'
import type { TimeSlice } from '../../../scheduling/cooperative.ts'
import type { ArtifactView } from '../../artifacts/artifact-view.ts'
import type { CommitFacts } from './commit-facts.ts'
import { readFacts } from './commit-facts.ts'
import { bytesOf } from './sql-bytes.ts'

/**
 * The facts of the commits on the first-parent lines of an artifact that the file has not got yet, by oid. Refuses with
 * `damaged_repository` if one of them cannot be read.
 */
export async function missingCommits(
  file: DatabaseFile,
  { family, slug, variants, repository }: ArtifactView,
  slice: TimeSlice,
): Promise<ReadonlyMap<Oid, CommitFacts>> {
  const missing = new Map<Oid, CommitFacts>()
  const isKnown = (oid: Oid): boolean =>
    missing.has(oid) || file.rows(KNOWN, family.folder, slug, bytesOf(oid)).length > 0
  for (const { head } of variants) {
    // Each is asked for in the file.
    await slice.pause()
    for (let oid = head; oid !== undefined && !isKnown(oid); oid = missing.get(oid)?.parent) {
      missing.set(oid, await readFacts(repository.objects, oid))
      await slice.pause()
    }
  }
  return missing
}

const KNOWN = `
  SELECT 1 FROM artifacts JOIN revisions ON revisions.artifact = artifacts.number
  WHERE artifacts.family = ? AND artifacts.slug = ? AND revisions.oid = ?`

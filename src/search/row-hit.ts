import type { Oid } from '../git/objects/object.ts'
import type { JsonObject } from '../json/json.ts'
import { rowAt } from '../resources/testsets/rows/row-tree.ts'
import { decodeRow, dedupIdOf } from '../resources/testsets/rows/stored-row.ts'
import type { ArtifactView, VariantView } from '../versioning/artifacts/artifact-view.ts'
import { readBytes } from '../versioning/family/tree-files.ts'
import { latestOf } from '../versioning/revisions/revision.ts'
import type { Registry } from '../versioning/registry.ts'
import type { RowHolder } from './index/rows/find-rows.ts'
import { rowsOfCommit } from './row-feed.ts'

/** A row of the latest revision of a variant. */
export interface HeldRow {
  readonly variant: VariantView
  /** The revision. */
  readonly head: Oid
  readonly data: JsonObject
  /** Its dedup id; its oid where git brought it without one. */
  readonly name: string
}

/**
 * A row that was found, in the default variant if that has it, else in the oldest that has it; undefined where it is in none of their
 * latest revisions any more. Refuses what cannot be read.
 */
export async function heldRow(
  registry: Registry,
  artifact: ArtifactView,
  oid: Oid,
  holders: readonly RowHolder[],
): Promise<HeldRow | undefined> {
  const { objects } = artifact.repository
  const positions = new Map(holders.map(({ slug, position }) => [slug, position]))
  const inOrder = [...new Set([artifact.defaultVariant, ...artifact.variants])]
  for (const variant of inOrder) {
    const position = variant && positions.get(variant.slug)
    const latest = position !== undefined && variant && (await latestOf(artifact, variant))
    if (!latest) continue
    const tree = await rowsOfCommit(registry, artifact, latest.oid)
    if ((await rowAt(objects, tree, position))?.oid !== oid) continue
    const data = decodeRow(await readBytes(objects, oid, 'blob'), () => `the row ${oid}`)
    return { variant, head: latest.oid, data, name: dedupIdOf(data) ?? oid }
  }
  return undefined
}

import type { ArtifactView } from '../artifacts/artifact-view.ts'
import type { Registry } from '../registry.ts'
import { damageOf } from './damage-of.ts'
import { pathOf } from './index-entry.ts'

/**
 * What `read` reads of an artifact for a list; undefined where its repository is damaged: one must not hide the others. The log and
 * /ready tell of it.
 */
export async function unlessDamaged<T>(
  { index }: Registry,
  artifact: ArtifactView,
  read: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await read()
  } catch (error) {
    const reason = damageOf(error, pathOf(artifact.family, artifact.slug))
    if (!reason) throw error
    index.leftOut(artifact, reason)
    return undefined
  }
}

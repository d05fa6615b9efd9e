import type { ArtifactView } from './artifact-view.ts'
import { damageOf } from './damage-of.ts'
import { pathOf } from './index-entry.ts'
import type { Registry } from './registry.ts'

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

/** The same for each row of a list: those that can be shown. */
export async function eachUnlessDamaged<T, U>(
  registry: Registry,
  rows: readonly T[],
  artifactOf: (row: T) => ArtifactView,
  show: (row: T) => Promise<U>,
): Promise<U[]> {
  const shown = await Promise.all(
    rows.map((row) => unlessDamaged(registry, artifactOf(row), async () => [await show(row)])),
  )
  return shown.flatMap((one) => one ?? [])
}

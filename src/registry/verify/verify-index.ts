import type { ArtifactView } from '../artifacts/artifact-view.ts'
import { pathOf } from '../index/index-entry.ts'
import type { Registry } from '../store/registry.ts'

/**
 * Compares the live index with a rebuilt one, and returns the differences. Ignores artifacts that change
 * meanwhile.
 */
export async function verifyIndex(live: Registry, rebuilt: Registry): Promise<readonly string[]> {
  await live.index.sweep()
  await rebuilt.index.load()
  const problems: string[] = []
  for (const family of live.families) {
    const followed = await byPath(live, family)
    const fresh = await byPath(rebuilt, family)
    for (const path of new Set([...followed.keys(), ...fresh.keys()])) {
      const [a, b] = [followed.get(path), fresh.get(path)]
      if (a && b && !isSameMap(a.source.refs.refs, b.source.refs.refs)) continue
      if (shape(a) !== shape(b)) problems.push(`${path}: the index and a rebuilt one differ about it`)
    }
  }
  return problems
}

async function byPath(
  { index }: Registry,
  family: Registry['families'][number],
): Promise<Map<string, ArtifactView>> {
  const views = [...(await index.list(family))]
  return new Map(views.map((view) => [pathOf(family, view.slug), view]))
}

function shape(view: ArtifactView | undefined): string | undefined {
  return (
    view &&
    JSON.stringify({
      id: view.id,
      meta: view.metaCommit,
      variants: view.variants.map(({ slug, id, head }) => [slug, id, head]),
      defaultVariant: view.defaultVariant?.slug,
      tags: [...view.tags].sort(),
      archived: [...view.archived.keys()].sort(),
    })
  )
}

function isSameMap(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): boolean {
  return a.size === b.size && [...a].every(([key, value]) => b.get(key) === value)
}

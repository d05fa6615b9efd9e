import type { Repository } from '../../git/repository.ts'
import type { ArtifactView } from '../artifacts/artifact-view.ts'
import type { Family } from '../family/family.ts'

/** One artifact of the index, and the view it was last seen in. */
export interface IndexEntry {
  readonly path: string
  readonly family: Family
  readonly slug: string
  readonly repository: Repository
  view: ArtifactView
}

/** Where an artifact is in its project: `<family>/<slug>`. */
export function pathOf(family: Family, slug: string): string {
  return `${family.folder}/${slug}`
}

/** Of two repositories with one artifact id, whether the first is the original: its folder has the name it was made with. */
export function isOriginal(view: ArtifactView, rival: ArtifactView): boolean {
  const [mine, theirs] = [view.record.slug === view.slug, rival.record.slug === rival.slug]
  return mine === theirs ? view.slug < rival.slug : mine
}

/** Oldest first. */
export function viewsByCreation(a: ArtifactView, b: ArtifactView): number {
  const [x, y] = [a.record, b.record]
  return x.created_at < y.created_at ? -1 : x.created_at > y.created_at ? 1 : x.id < y.id ? -1 : 1
}

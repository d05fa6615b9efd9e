import type { Oid } from '../../git/objects/object.ts'
import type { ArtifactView } from '../../versioning/artifacts/artifact-view.ts'
import { pathOf } from '../../versioning/index/index-entry.ts'

/** How an artifact was when webhooks were last told of it. */
export interface PublishCursor {
  /** `<family>/<slug>`. */
  readonly path: string
  readonly id: string
  /** The commit of refs/meta/artifact. */
  readonly meta: Oid
  /** The branches' commits by variant slug. */
  readonly heads: ReadonlyMap<string, Oid>
  /** When it was told, in milliseconds since 1970. */
  readonly at: number
}

/** What telling of everything in this view leaves behind. */
export function cursorOf({ family, slug, id, metaCommit, variants }: ArtifactView, now: Date): PublishCursor {
  const heads = new Map<string, Oid>()
  for (const variant of variants) if (variant.head !== undefined) heads.set(variant.slug, variant.head)
  return { path: pathOf(family, slug), id, meta: metaCommit, heads, at: now.getTime() }
}

/** Whether there is nothing in the view to tell. */
export function isPublished(view: ArtifactView, before: PublishCursor | undefined): boolean {
  if (before?.id !== view.id || before.meta !== view.metaCommit) return false
  return view.variants.every(({ slug, head }) => before.heads.get(slug) === head)
}

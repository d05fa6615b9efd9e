import type { Json } from '../../json/json.ts'
import type { Revision } from '../../versioning/revisions/revision.ts'
import { artifactReference } from '../registry-event.ts'

/** How an event refers to a revision and what it belongs to (interface 5.15). */
export function revisionReferences({
  artifact,
  variant,
  id,
  slug,
  version,
}: Revision): readonly (readonly [string, Json])[] {
  const { name } = artifact.family
  return [
    artifactReference(artifact),
    [`${name}_variant`, { id: variant.id, slug: variant.slug }],
    [`${name}_revision`, { id, slug, version }],
  ]
}

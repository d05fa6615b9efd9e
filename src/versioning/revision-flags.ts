import type { ArtifactView } from './artifact-view.ts'
import type { Payload } from './family.ts'

/** All flags of a revision in wire order: the artifact's roles, then what is derived from the payload (interface 2.3). */
export function revisionFlags(
  artifact: ArtifactView,
  payload: Payload | undefined,
): Readonly<Record<string, boolean>> {
  const { family, record } = artifact
  const flags: Record<string, boolean> = {}
  for (const role of family.roles) flags[role] = record.flags?.[role] ?? false
  return Object.assign(flags, family.flags(payload))
}

import { repositoryDigits } from '../versioning/ids.ts'
import type { RegistryEvent } from './registry-event.ts'
import type { Webhook } from './webhook.ts'

/** Whether an event is one that the webhook asks for. */
export function matchesFilters(
  { events, filters }: Webhook,
  { type, artifact, deployed }: RegistryEvent,
): boolean {
  const { families, artifacts, environments } = filters
  if (events.length > 0 && !events.includes(type)) return false
  if (families && !families.includes(artifact.family.folder)) return false
  if (environments && (!artifact.family.pins || !isAmong(environments, [artifact]))) return false
  return !artifacts || isAmong(artifacts, [artifact, ...deployed])
}

/** Whether the webhook asks for events of this very artifact, or environment. */
export function namesArtifact({ filters }: Webhook, artifact: RegistryEvent['artifact']): boolean {
  const { families, artifacts = [], environments = [] } = filters
  const { family } = artifact
  if (family.pins && isAmong(environments, [artifact])) return true
  // A slug may be that of another family's.
  if (families && !families.includes(family.folder)) return artifacts.some(({ id }) => isIdOf(artifact, id))
  return isAmong(artifacts, [artifact])
}

function isIdOf(artifact: RegistryEvent['artifact'], id: string | undefined): boolean {
  return id !== undefined && isAmong([{ id }], [artifact])
}

interface Named {
  readonly id?: string | undefined
  readonly slug?: string | undefined
}

/** Whether one of the things is named; everything of an artifact has an id that ends in the same digits. */
function isAmong(names: readonly Named[], things: readonly Named[]): boolean {
  return names.some(({ id, slug }) =>
    things.some((thing) =>
      id === undefined
        ? slug !== undefined && slug === thing.slug
        : thing.id !== undefined && repositoryDigits(id) === repositoryDigits(thing.id),
    ),
  )
}

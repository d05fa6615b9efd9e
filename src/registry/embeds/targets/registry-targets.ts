import { getKey, isJsonObject, type JsonObject } from '../../../base/json.ts'
import { PLAIN_READING, type PresentContext } from '../../payload/family.ts'
import { LargeDocument } from '../../payload/large-document.ts'
import type { Registry } from '../../store/registry.ts'
import { readRevisionAt } from '../../revisions/revision.ts'
import type { EmbedLookup } from './embed-lookup.ts'
import { EmbedRefusal } from '../embed-refusal.ts'
import type { EmbedTarget, EmbedTargets } from './embed-targets.ts'
import { findEmbedPlace } from './find-embed-place.ts'

/**
 * The revisions of a registry as embed targets (interface 10.6), archived or not and of any role. A revision
 * without data is not found. `versionType` is how versions in an environment's pins are shown.
 */
export function registryTargets(
  registry: Registry,
  versionType?: PresentContext['versionType'],
): EmbedTargets {
  return { find: (lookup) => findTarget(registry, lookup, versionType) }
}

async function findTarget(
  registry: Registry,
  lookup: EmbedLookup,
  versionType: PresentContext['versionType'],
): Promise<EmbedTarget> {
  const place = await findEmbedPlace(registry, lookup)
  const { artifact, id, slug, stored } = await readRevisionAt(place)
  if (stored.payload === undefined) {
    throw new EmbedRefusal('embed_not_found', `The revision "${slug}" has no data to embed.`)
  }
  if (stored.payload instanceof LargeDocument) throw stored.payload.refusal()
  const presented = await artifact.family.present(stored.payload, {
    servicesBase: registry.servicesBase,
    artifactId: artifact.id,
    revisionId: id,
    source: artifact.repository.objects,
    asked: PLAIN_READING,
    versionType,
  })
  const data = presented.data as JsonObject // workflows and environments have documents as payloads, shown whole
  const pins = lookup.family === 'environment' ? getKey(data, 'references') : undefined
  return { id, slug, data, ...(isJsonObject(pins) ? { pins } : {}) }
}

import { getKey, isJsonObject } from '../../json/json.ts'
import { documentOf } from '../../versioning/family/document-family.ts'
import type { Registry } from '../../versioning/registry.ts'
import type { RevisionLocation } from '../../versioning/revisions/revision.ts'
import { embedLookup } from './embed-lookup.ts'
import type { EmbedToken } from '../syntax/embed-token.ts'
import { findEmbedPlace } from './find-embed-place.ts'
import { pinToFollow } from '../pinned-references.ts'

/**
 * The places of the revisions that an embed points at now: its target, and what that has deployed if the embed goes on to it.
 * Refuses with an `EmbedRefusal` what cannot be found.
 */
export async function placesOf(
  registry: Registry,
  { form, references, selector }: EmbedToken,
): Promise<readonly RevisionLocation[]> {
  const lookup = embedLookup(references)
  const place = await findEmbedPlace(registry, lookup)
  if (lookup.family !== 'environment') return [place]
  const { family, repository } = place.artifact
  const { payload } = await registry.revisions(family).read(repository.objects, place.oid)
  const pins = payload && getKey(documentOf(payload), 'references')
  const pinned = pinToFollow(form, selector.key, lookup, isJsonObject(pins) ? pins : undefined)
  return pinned ? [place, await findEmbedPlace(registry, embedLookup(pinned))] : [place]
}

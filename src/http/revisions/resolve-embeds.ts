import type { ResolutionInfo } from '../../embeds/resolution-log.ts'
import type { ResolvedData, ResolveOptions } from '../../embeds/resolve-embeds.ts'
import { resolveEmbeds } from '../../embeds/resolve-embeds.ts'
import { registryTargets } from '../../embeds/targets/registry-targets.ts'
import { isJsonObject, type Json, type JsonObject } from '../../json/json.ts'
import type { Family, PresentedPayload } from '../../versioning/family/family.ts'
import type { Registry } from '../../versioning/registry.ts'
import type { PresentOptions } from '../presenters/record.ts'

/** How a request wants embeds resolved (interface 10.1). */
export type EmbedOptions = Omit<ResolveOptions, 'host'>

/** How they are unless it says otherwise. */
export const DEFAULT_EMBED_OPTIONS: EmbedOptions = { maxDepth: 10, maxEmbeds: 100, errorPolicy: 'exception' }

const NOTHING: ResolutionInfo = { references_used: [], depth_reached: 0, embeds_resolved: 0, errors: [] }

/**
 * Data with its embeds resolved; without data there is nothing to resolve. Refuses a result that its family would not take,
 * whatever the error policy (interface 10.1).
 */
export async function resolveEmbedsOf(
  registry: Registry,
  family: Family,
  data: PresentedPayload['data'],
  { versionType, ...options }: ResolveOptions & Pick<PresentOptions, 'versionType'>,
): Promise<Omit<ResolvedData, 'data'> & { readonly data: JsonObject | undefined }> {
  if (!isDocument(data)) return { data: undefined, info: NOTHING }
  const resolved = await resolveEmbeds(data, registryTargets(registry, versionType), options)
  const { embeds_resolved: done, errors } = resolved.info
  if (done > 0 || errors.length > 0) {
    await family.accept(resolved.data, { loc: ['data'], servicesBase: registry.servicesBase })
  }
  return resolved
}

/** The payloads of families whose revisions are resolved are documents, shown whole. */
function isDocument(data: PresentedPayload['data']): data is JsonObject {
  return isJsonObject(data as Json | undefined)
}

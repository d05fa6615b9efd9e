import {
  type ResolutionInfo,
  type ResolvedData,
  type ResolveOptions,
  resolveEmbeds,
  registryTargets,
} from '../../registry/embeds.ts'
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts'
import type { Family, PresentedPayload } from '../../registry/families.ts'
import type { Registry } from '../../registry/registries.ts'
import type { PresentOptions } from './record.ts'

/** A request's options for resolving embeds (interface 10.1). */
export type EmbedOptions = Omit<ResolveOptions, 'host'>

export const DEFAULT_EMBED_OPTIONS: EmbedOptions = { maxDepth: 10, maxEmbeds: 100, errorPolicy: 'exception' }

const NOTHING: ResolutionInfo = { references_used: [], depth_reached: 0, embeds_resolved: 0, errors: [] }

/**
 * Resolves the embeds in data, if there is any. Refuses a result that is invalid for its family, under any
 * error policy (interface 10.1).
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

/** Families with resolvable revisions have documents as payloads, shown whole. */
function isDocument(data: PresentedPayload['data']): data is JsonObject {
  return isJsonObject(data as Json | undefined)
}

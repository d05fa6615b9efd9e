import type { EmbedLookup } from '../../../src/registry/embeds/targets/embed-lookup.ts'
import { EmbedRefusal } from '../../../src/registry/embeds/embed-refusal.ts'
import type { EmbedTarget, EmbedTargets } from '../../../src/registry/embeds/targets/embed-targets.ts'
import { getKey, isJsonObject, type Json, type JsonObject } from '../../../src/base/json/json.ts'

/** Targets that are just there: revisions by slug, with their slug as id, of workflows and of environments. */
export interface MemoryTargets extends EmbedTargets {
  /** What was looked for, in order. */
  readonly lookups: EmbedLookup[]
}

export function memoryTargets(
  workflows: Readonly<Record<string, Json>>,
  environments: Readonly<Record<string, Json>> = {},
): MemoryTargets {
  const lookups: EmbedLookup[] = []
  return {
    lookups,
    find: async (lookup) => {
      lookups.push(lookup)
      const { revision, variant, artifact } = lookup.references
      const slug = (revision ?? variant ?? artifact)?.slug ?? ''
      const data = (lookup.family === 'workflow' ? workflows : environments)[slug]
      if (!isJsonObject(data)) throw new EmbedRefusal('embed_not_found', `There is no ${slug}.`)
      return targetOf(slug, data)
    },
  }
}

function targetOf(slug: string, data: JsonObject): EmbedTarget {
  const pins = getKey(data, 'references')
  return { id: slug, slug, data, ...(isJsonObject(pins) ? { pins } : {}) }
}

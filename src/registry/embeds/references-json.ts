import { fromEntries, type JsonObject } from '../../base/json.ts'
import type { EmbedReference, EmbedReferences } from './syntax/embed-token.ts'

/** References as JSON, by entity type. */
export function referencesJson(references: EmbedReferences): JsonObject {
  return fromEntries([...references].map(([type, reference]) => [type, referenceJson(reference)]))
}

function referenceJson({ id, slug, version }: EmbedReference): JsonObject {
  return {
    ...(id === undefined ? {} : { id }),
    ...(slug === undefined ? {} : { slug }),
    ...(version === undefined ? {} : { version }),
  }
}

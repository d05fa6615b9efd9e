import { fromEntries, getKey, isJsonObject, withKey, type Json, type JsonObject } from '../json/json.ts'
import type { Span, SpanReference } from './span.ts'

/** The attributes of a span with its references in their place, `svc.references`. */
export function withReferences(
  { attributes, references }: Span,
  json: (references: Span['references']) => Json = spanReferencesJson,
): JsonObject {
  const svc = getKey(attributes, 'svc')
  if (references.size === 0 || !isJsonObject(svc)) return attributes
  return withKey(attributes, 'svc', withKey(svc, 'references', json(references)))
}

/** References as attributes have them (interface 12.8): an object each, under its name. */
export function spanReferencesJson(references: ReadonlyMap<string, SpanReference>): JsonObject {
  return fromEntries([...references].map(([name, reference]) => [name, referenceJson(reference)]))
}

/** A reference as attributes have it. */
export function referenceJson({ id, slug, version }: SpanReference): JsonObject {
  return {
    ...(id === undefined ? {} : { id }),
    ...(slug === undefined ? {} : { slug }),
    ...(version === undefined ? {} : { version }),
  }
}

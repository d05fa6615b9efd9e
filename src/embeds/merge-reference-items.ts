import type { EmbedReference, EmbedReferences } from './syntax/embed-token.ts'
import { type ReferenceField, referenceOfFields } from './reference-of-fields.ts'

/** One `<entity type>.<field> = <value>` of a string token. */
export interface ReferenceItem {
  readonly type: string
  readonly field: ReferenceField
  readonly value: string
}

/**
 * The references that the items of a string token make: those of one entity type are one reference, a field given twice
 * takes its last value (interface 10.3, 10.4). Undefined if there are none or one is ill-formed: mere text then.
 */
export function mergeReferenceItems(items: Iterable<ReferenceItem>): EmbedReferences | undefined {
  const merged = new Map<string, Partial<Record<ReferenceField, string>>>()
  for (const { type, field, value } of items) {
    const fields = merged.get(type) ?? {}
    fields[field] = value
    merged.set(type, fields)
  }
  const references = new Map<string, EmbedReference>()
  for (const [type, fields] of merged) {
    const reference = referenceOfFields(fields)
    if (!reference) return undefined
    references.set(type, reference)
  }
  return references.size === 0 ? undefined : references
}

import { parseUuid } from '../versioning/ids.ts'
import type { EmbedReference } from './syntax/embed-token.ts'

/** A slug as the references of tokens may spell it (interface 10.1); nothing else ever reaches a lookup. */
const SLUG = /^[A-Za-z0-9_-][A-Za-z0-9_.-]*$/

/** The fields of a reference. */
export const REFERENCE_FIELDS = ['id', 'slug', 'version'] as const

/** A field of a reference. */
export type ReferenceField = (typeof REFERENCE_FIELDS)[number]

/** Whether `name` is a field of a reference. */
export function isReferenceField(name: string): name is ReferenceField {
  return name === 'id' || name === 'slug' || name === 'version'
}

/** The reference with these fields; undefined if one of them is ill-formed, which makes its token mere text. */
export function referenceOfFields(
  fields: Readonly<Partial<Record<ReferenceField, string>>>,
): EmbedReference | undefined {
  if (fields.id !== undefined && parseUuid(fields.id) === undefined) return undefined
  if (fields.slug !== undefined && !SLUG.test(fields.slug)) return undefined
  return fields
}

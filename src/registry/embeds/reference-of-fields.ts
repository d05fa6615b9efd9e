import { parseUuid } from '../store/ids.ts'
import type { EmbedReference } from './syntax/embed-token.ts'

/** A slug as token references may spell it (interface 10.1); only such slugs are looked up. */
const SLUG = /^[A-Za-z0-9_-][A-Za-z0-9_.-]*$/

export const REFERENCE_FIELDS = ['id', 'slug', 'version'] as const

export type ReferenceField = (typeof REFERENCE_FIELDS)[number]

export function isReferenceField(name: string): name is ReferenceField {
  return name === 'id' || name === 'slug' || name === 'version'
}

/** The reference with these fields; undefined if one is ill-formed, which makes its token plain text. */
export function referenceOfFields(
  fields: Readonly<Partial<Record<ReferenceField, string>>>,
): EmbedReference | undefined {
  if (fields.id !== undefined && parseUuid(fields.id) === undefined) return undefined
  if (fields.slug !== undefined && !SLUG.test(fields.slug)) return undefined
  return fields
}

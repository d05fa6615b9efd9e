import { type Json, type JsonObject, membersAt, membersOf, pointerToken } from '../../base/json.ts'
import { contentOf } from '../../registry/testsets.ts'
import type { ArtifactView, VariantView, Header } from '../../registry/artifacts.ts'
import { documentOf, LargeDocument } from '../../registry/families.ts'
import type { StoredRevision } from '../../registry/revisions.ts'

/** The searchable fields, in the order of the index's columns. */
export const SEARCH_FIELDS = ['name', 'description', 'tags', 'message', 'data'] as const
export type SearchField = (typeof SEARCH_FIELDS)[number]

/** A searchable text and its place. */
export interface SearchText {
  readonly field: SearchField
  readonly text: string
  /** A JSON Pointer into the revision's data, or the name of a header field. */
  readonly place?: string | { readonly header: string }
}

/** The parts of a revision that are searched. */
export interface Searched {
  readonly artifact: ArtifactView
  readonly variant: VariantView | undefined
  readonly stored: StoredRevision | undefined
}

/** Only the first characters of a longer text, up to this number, are searchable. */
const MAX_DATA_LENGTH = 1_000_000

/** The searchable texts of a revision, or of an artifact without revisions. They include those of the artifact and its variant. */
export function textsOf({ artifact, variant, stored }: Searched): SearchText[] {
  const headers: readonly (Header | undefined)[] = [artifact.record, variant?.record, stored?.header]
  const names = new Set([artifact.slug, variant?.slug, stored?.trailers.slug])
  for (const header of headers) names.add(header?.name)
  const texts: SearchText[] = []
  for (const text of names) if (text) texts.push({ field: 'name', text })
  for (const header of headers) {
    if (header?.description) texts.push({ field: 'description', text: header.description })
    if (header?.tags) for (const text of textsOfTags(header.tags)) texts.push(text)
  }
  const { message, payload } = stored ?? {}
  if (message) texts.push({ field: 'message', text: message })
  // A payload that is too large to be held in memory is found only by its names and its message.
  const isHeld = artifact.family.rowsFolder === undefined && !(payload instanceof LargeDocument)
  if (payload && isHeld) for (const text of stringsIn(documentOf(payload))) texts.push(text)
  return texts
}

/** A text of a row, and its column. */
export interface RowText {
  readonly column: string
  readonly text: string
}

/** The searchable texts of a row, without its dedup id. */
export function textsOfRow(data: JsonObject): RowText[] {
  return [...membersOf(contentOf(data))].flatMap(([column, value]) =>
    stringsIn(value).map(({ text }) => ({ column, text })),
  )
}

function textsOfTags(tags: JsonObject): SearchText[] {
  return [...membersOf(tags)].map(([key, value]) => ({
    field: 'tags',
    text: [key, ...stringsIn(value).map(({ text }) => text)].join(' '),
    place: { header: `/tags/${pointerToken(key)}` },
  }))
}

/** The strings of a value, with at most this many characters together. */
interface FoundStrings {
  readonly texts: SearchText[]
  left: number
}

function stringsIn(
  value: Json,
  place = '',
  found: FoundStrings = { texts: [], left: MAX_DATA_LENGTH },
): SearchText[] {
  if (found.left <= 0) return found.texts
  if (typeof value === 'string') {
    found.left -= value.length
    found.texts.push({ field: 'data', text: value, place })
    return found.texts
  }
  for (const [key, member] of membersAt(value))
    stringsIn(member, `${place}/${pointerToken(String(key))}`, found)
  return found.texts
}

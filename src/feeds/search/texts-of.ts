import { type Json, type JsonObject, membersAt, membersOf, pointerToken } from '../../base/json.ts'
import { contentOf } from '../../registry/testsets.ts'
import type { ArtifactView, VariantView, Header } from '../../registry/artifacts.ts'
import { documentOf, LargeDocument } from '../../registry/families.ts'
import type { StoredRevision } from '../../registry/revisions.ts'

/** The fields that something is found by, in the order of the columns of the index. */
export const SEARCH_FIELDS = ['name', 'description', 'tags', 'message', 'data'] as const
export type SearchField = (typeof SEARCH_FIELDS)[number]

/** A text by which something is found, and where it stands. */
export interface SearchText {
  readonly field: SearchField
  readonly text: string
  /** A JSON Pointer into the revision's data, or a field of a header. */
  readonly place?: string | { readonly header: string }
}

/** What of a revision is looked into. */
export interface Searched {
  readonly artifact: ArtifactView
  readonly variant: VariantView | undefined
  readonly stored: StoredRevision | undefined
}

/** What is longer than this is found only by what stands before. */
const MAX_DATA_LENGTH = 1_000_000

/** The texts by which a revision is found, or an artifact without one: those of the artifact and its variant are among them. */
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
  // What is too large to be held is found by its names and its message.
  const isHeld = artifact.family.rowsFolder === undefined && !(payload instanceof LargeDocument)
  if (payload && isHeld) for (const text of stringsIn(documentOf(payload))) texts.push(text)
  return texts
}

/** A text of a row, and the column that it stands in. */
export interface RowText {
  readonly column: string
  readonly text: string
}

/** The texts by which a row is found; its dedup id is none. */
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

/** The strings of a value, of at most so many characters together. */
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

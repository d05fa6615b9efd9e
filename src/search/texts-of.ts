import type { Json, JsonObject } from '../json/json.ts'
import { isJsonArray, isJsonObject, membersOf } from '../json/json.ts'
import { pointerToken } from '../json/json-pointer.ts'
import { contentOf } from '../resources/testsets/rows/stored-row.ts'
import type { ArtifactView, VariantView } from '../versioning/artifacts/artifact-view.ts'
import type { Header } from '../versioning/artifacts/records.ts'
import { documentOf } from '../versioning/family/document-family.ts'
import { asLarge } from '../versioning/family/large-document.ts'
import type { StoredRevision } from '../versioning/revisions/decoded-revision.ts'
import type { SearchField } from './index/documents.ts'

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

/** Past so many units of text the rest of a revision's data is found by nothing. */
const MOST_DATA = 1_000_000

/** The texts by which a revision is found, or an artifact without one: those of the artifact and its variant are among them. */
export function textsOf({ artifact, variant, stored }: Searched): SearchText[] {
  const headers: readonly (Header | undefined)[] = [artifact.record, variant?.record, stored?.header]
  const names = [
    artifact.slug,
    variant?.slug,
    stored?.trailers.slug,
    ...headers.map((header) => header?.name),
  ]
  const texts: SearchText[] = [...new Set(names)].flatMap((text) => (text ? { field: 'name', text } : []))
  for (const header of headers) {
    if (header?.description) texts.push({ field: 'description', text: header.description })
    for (const tag of tagsOf(header?.tags)) texts.push(tag)
  }
  if (stored?.message) texts.push({ field: 'message', text: stored.message })
  // What is too large to be held is found by its names and its message.
  if (stored?.payload && artifact.family.rowsFolder === undefined && !asLarge(stored.payload))
    for (const text of stringsIn(documentOf(stored.payload))) texts.push(text)
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

function tagsOf(tags: JsonObject | undefined): SearchText[] {
  if (!tags) return []
  return [...membersOf(tags)].map(([key, value]) => ({
    field: 'tags',
    text: [key, ...stringsIn(value).map(({ text }) => text)].join(' '),
    place: { header: `/tags/${pointerToken(key)}` },
  }))
}

function stringsIn(value: Json): SearchText[] {
  const texts: SearchText[] = []
  let left = MOST_DATA
  const walk = (it: Json, place: string): void => {
    if (left <= 0) return
    if (typeof it === 'string') {
      left -= it.length
      texts.push({ field: 'data', text: it, place })
    } else if (isJsonArray(it)) it.forEach((item, at) => walk(item, `${place}/${at}`))
    else if (isJsonObject(it))
      for (const [key, member] of membersOf(it)) walk(member, `${place}/${pointerToken(key)}`)
  }
  walk(value, '')
  return texts
}

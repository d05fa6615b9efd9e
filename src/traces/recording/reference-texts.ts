import { recentlyUsed } from '../../cache/recently-used.ts'
import { stringifyJson } from '../../json/stringify-json.ts'
import { namedList } from './named-list.ts'
import { spanReferencesJson } from '../references-json.ts'
import type { SpanReference } from '../span.ts'

/** Stands in attributes that wait behind the object that the references are to be in. JSON has no such character of its own. */
export const PLACE_OF_MEMBERS = '\u0001'

/** The references of a span as its record has them. */
export interface ReferenceTexts {
  /** `attributes.svc.references` (contract/handlers 5.1): an object each, under its name. */
  readonly members: string
  /** `references` (contract/handlers 5.2); '' where there are none. */
  readonly list: string
}

/** Their texts: the same object for references that say the same, as runs of one revision do, as long as they come again soon. */
export function referenceTexts(references: ReadonlyMap<string, SpanReference>): ReferenceTexts {
  const list = references.size === 0 ? '' : namedList(references, referenceText)
  const known = lately.get(list)
  if (known !== undefined) return known
  const made = { members: stringifyJson(spanReferencesJson(references)), list }
  lately.set(list, made)
  return made
}

/** By their lists, which say all that their members do; at most so many characters. */
const lately = recentlyUsed<string, ReferenceTexts>(
  2 * 1024 * 1024,
  ({ members, list }) => members.length + list.length,
)

function referenceText({ id, slug, version }: SpanReference): string {
  return (
    (id === undefined ? '' : `"id":${JSON.stringify(id)},`) +
    (slug === undefined ? '' : `"slug":${JSON.stringify(slug)},`) +
    (version === undefined ? '' : `"version":${JSON.stringify(version)},`)
  )
}

import { stringifyJson } from '../json/stringify-json.ts'
import { namedList } from './named-list.ts'
import { referencesJson } from './references-json.ts'
import type { SpanReference } from './span.ts'

/** Stands in attributes that wait behind the object that the references are to be in. JSON has no such character of its own. */
export const PLACE_OF_MEMBERS = '\u0001'

/** The references of a span as its record has them. */
export interface ReferenceTexts {
  /** `attributes.svc.references` (contract/handlers 5.1): an object each, under its name. */
  readonly members: string
  /** `references` (contract/handlers 5.2); '' where there are none. */
  readonly list: string
}

/** Their texts, made once: runs of one revision share their references. */
export function referenceTexts(references: ReadonlyMap<string, SpanReference>): ReferenceTexts {
  const known = texts.get(references)
  if (known !== undefined) return known
  const made = {
    members: stringifyJson(referencesJson(references)),
    list: references.size === 0 ? '' : namedList(references, referenceText),
  }
  texts.set(references, made)
  return made
}

const texts = new WeakMap<ReadonlyMap<string, SpanReference>, ReferenceTexts>()

function referenceText({ id, slug, version }: SpanReference): string {
  return (
    (id === undefined ? '' : `"id":${JSON.stringify(id)},`) +
    (slug === undefined ? '' : `"slug":${JSON.stringify(slug)},`) +
    (version === undefined ? '' : `"version":${JSON.stringify(version)},`)
  )
}

import { stringifyJson } from '../json/stringify-json.ts'
import { namedList } from './named-list.ts'
import { referencesJson } from './references-json.ts'
import type { SpanReference } from './span.ts'

/** What stands for references in a record that waits: in the attributes and in its list. JSON has no such characters of its own. */
export const MEMBERS = '\u0001'
export const LIST = '\u0002'

/** The references of a span as its record has them. */
export interface ReferenceTexts {
  /** `attributes.svc.references` (contract/handlers 5.1): an object each, under its name. */
  readonly members: string
  /** `references` (contract/handlers 5.2). */
  readonly list: string
}

/** Their texts, made once: runs of one revision share their references. */
export function referenceTexts(references: ReadonlyMap<string, SpanReference>): ReferenceTexts {
  const known = texts.get(references)
  if (known !== undefined) return known
  const made = {
    members: stringifyJson(referencesJson(references)),
    list: namedList(references, referenceText),
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

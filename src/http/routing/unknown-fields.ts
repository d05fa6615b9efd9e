import type { z } from 'zod'
import type { FieldProblem } from '../../errors.ts'
import { entriesOf, isJsonArray, isJsonObject, type Json } from '../../json/json.ts'
import { nearestName } from '../../suggestions/nearest-name.ts'
import { ProblemCollector } from '../../resources/documents/problem-collector.ts'
import { READ_ONLY, UNKNOWN_KEY } from '../../resources/documents/problems-refusal.ts'
import { type Known, type KnownObject, knownFields } from './known-fields.ts'

/** Where a field was sent. */
export type Where = 'body' | 'query'

/**
 * What a request holds at any level and nobody reads (interface 2.10): each with its place and the name that was meant, as far as that can
 * be told; of very many the first. A null equals absent unless `keepNulls`.
 */
export function unknownFields(
  schema: z.ZodType,
  value: unknown,
  where: Where,
  { keepNulls = false }: { readonly keepNulls?: boolean | undefined } = {},
): readonly FieldProblem[] {
  const problems = new ProblemCollector([where])
  // What is asked about was read from JSON or from a query string.
  lookAt(knownFields(schema), value as Json, problems, keepNulls)
  return problems.listed
}

function lookAt(known: Known | undefined, value: Json, problems: ProblemCollector, keepNulls: boolean): void {
  if (known === undefined || typeof value !== 'object' || value === null) return
  if (isJsonArray(value)) {
    if (!('items' in known)) return
    for (const [index, item] of value.entries())
      problems.below(index, () => lookAt(known.items, item, problems, keepNulls))
  } else if ('members' in known && isJsonObject(value)) {
    for (const [key, member] of entriesOf(value)) {
      if (member === null && !keepNulls) continue
      if (known.members.has(key))
        problems.below(key, () => lookAt(known.members.get(key), member, problems, keepNulls))
      else if (known.unused.has(key)) continue
      else if (known.fixed.has(key)) problems.below(key, () => problems.add(() => madeHere(key), READ_ONLY))
      else if (known.each) problems.below(key, () => lookAt(known.each?.known, member, problems, keepNulls))
      else problems.below(key, () => problems.add(() => unknownField(key, known), UNKNOWN_KEY))
    }
  }
}

function unknownField(key: string, { members, misplaced }: KnownObject): string {
  if (Object.hasOwn(misplaced, key)) return misplaced[key] ?? ''
  const elsewhere = Object.keys(misplaced)
  const meant = nearestName(key, [...members.keys(), ...elsewhere])
  return meant !== undefined && elsewhere.includes(meant)
    ? `there is no field ${shownName(key)} here; did you mean ${meant}? But ${misplaced[meant]}`
    : unknownName('field', key, [...members.keys()])
}

function madeHere(key: string): string {
  return `the server makes ${shownName(key)}; leave it out of what is to be made`
}

const MAX_NAMES_LISTED = 12

/** The sentence about a name that nobody knows: what was meant, or what there is. */
export function unknownName(what: string, name: string, known: readonly string[]): string {
  const shown = shownName(name)
  const meant = nearestName(name, known)
  if (meant !== undefined) return `there is no ${what} ${shown} here; did you mean ${meant}?`
  if (known.length === 0) return `there is no ${what} ${shown} here; leave it out, there are none`
  const more = known.length > MAX_NAMES_LISTED ? ', …' : ''
  return `there is no ${what} ${shown} here; there are ${known.slice(0, MAX_NAMES_LISTED).join(', ')}${more}`
}

function shownName(name: string): string {
  return JSON.stringify(name.slice(0, 80))
}

import type { Planned } from '../expectation.ts'
import { answered, refused } from '../expectation.ts'
import type { QueryLevel } from '../state/model-query.ts'
import {
  artifactRecord,
  flatRecord,
  retrievalInfo,
  revisionRecord,
  variantRecord,
} from '../state/model-records.ts'
import type { ModelReferences } from '../state/model-references.ts'
import { disagreementsOf, resolve } from '../state/model-references.ts'
import type { ModelState, RevisionAt, VariantAt } from '../state/model-state.ts'
import { chainOf, definedOf, revisionsOf, variantsOf } from '../state/model-state.ts'
import { cutRows } from '../state/model-window.ts'
import { pickFrom, referencesOf, windowingOf, wrongId } from './pick-targets.ts'
import { notFoundAt, pathOf } from './plan-archive.ts'
import { referenceMembers } from './plan-variant.ts'
import type { GetStep, LogStep, RetrieveStep, Step } from '../step.ts'

/** `GET …/{id}` at every level, archived or not. */
export function planGet(state: ModelState, { surface, level, pick }: GetStep & Step): Planned {
  const found = recordAt(state, level, surface, pick)
  const id = found?.id ?? wrongId(state, level, pick)
  const request = { method: 'GET' as const, path: `${pathOf(level, surface)}/${id}` }
  if (!found) return { request, expected: refused(notFoundAt(level)) }
  const key = level === 'artifact' || level === 'flat' ? surface : `${surface}_${level}`
  return { request, expected: answered({ count: 1, [key]: found.record }, found.exact) }
}

function recordAt(
  state: ModelState,
  level: QueryLevel,
  surface: Step['surface'],
  pick: number,
): { readonly id: string; readonly record: object; readonly exact?: string | undefined } | undefined {
  if (level === 'variant') {
    const place = pickFrom(variantsOf(state), pick)
    return place && { id: place.variant.id, record: variantRecord(place, surface) }
  }
  if (level === 'revision') {
    const place = pickFrom(revisionsOf(state), pick)
    const record = place && revisionRecord(state, place, surface, true)
    return place && record && { id: place.revision.id, record, exact: place.revision.exact }
  }
  const artifact = pickFrom(state.artifacts, pick)
  if (!artifact) return undefined
  const record = level === 'flat' ? flatRecord(state, artifact) : artifactRecord(state, artifact)
  return { id: artifact.id, record }
}

/** `POST …/revisions/retrieve`, or its GET form with dotted parameters (interface 2.23). */
export function planRetrieve(
  state: ModelState,
  { surface, references, method }: RetrieveStep & Step,
): Planned {
  return retrieval(state, surface, referencesOf(state, references), method)
}

/** A retrieve by these references. */
export function retrieval(
  state: ModelState,
  surface: Step['surface'],
  references: ModelReferences,
  method: 'GET' | 'POST',
): Planned {
  const body = referenceMembers(surface, references)
  const path = `/${surface}s/revisions/retrieve`
  // An empty reference cannot be written as dotted parameters.
  const isEmpty = Object.values(body).some((reference) => Object.keys(reference).length === 0)
  const request =
    method === 'GET' && !isEmpty
      ? { method, path: `${path}?${dotted(body)}` }
      : { method: 'POST' as const, path, body }
  const found = resolve(state, references)
  if ('refused' in found) return { request, expected: found }
  const bodies = found.map((place) => ({
    count: 1,
    [`${surface}_revision`]: revisionRecord(state, place, surface, true),
    retrieval_info: retrievalInfo(place, surface),
  }))
  const [place] = found
  const warnings = () => (place ? disagreementsOf(state, surface, references, place) : [])
  return { request, expected: { answer: () => bodies, warnings, exact: place?.revision.exact } }
}

function dotted(body: Readonly<Record<string, object>>): URLSearchParams {
  const parameters = new URLSearchParams()
  for (const [name, reference] of Object.entries(body)) {
    for (const [field, value] of Object.entries(reference))
      parameters.append(`${name}.${field}`, String(value))
  }
  return parameters
}

/** `POST …/revisions/log`: newest first, without payloads unless asked for (interface 4.20). */
export function planLog(state: ModelState, step: LogStep & Step): Planned {
  const { surface, of, pick, depth, includeData, includeArchived } = step
  const start = logStart(state, of, pick)
  const id = start?.id ?? wrongId(state, of, pick)
  const chain = start?.place ? chainOf(start.place.revision) : []
  const rows = chain.map((it) => ({ id: it.id, at: it.date }))
  // Whether an empty list knows a cursor is nobody's concern.
  const windowing = rows.length === 0 ? undefined : windowingOf(rows, step.windowing)
  const field = of === 'artifact' ? `${surface}_id` : `${surface}_${of}_id`
  const wrapper = [surface, `${surface}_revisions`, `${surface}_revision`][pick % 3] ?? surface
  const options = definedOf({ depth, include_data: includeData, include_archived: includeArchived })
  const request = {
    method: 'POST' as const,
    path: `/${surface}s/revisions/log`,
    body: definedOf({ [wrapper]: { [field]: id, ...options }, windowing }),
  }
  if (!start) return { request, expected: refused(notFoundAt(of)) }
  const listed = chain.filter((it) => includeArchived || !it.archived)
  const shown = listed.slice(0, depth)
  // What comes after the last of `depth` revisions is no part of the list, and so no cursor.
  const last = depth === undefined || listed.length < depth ? undefined : shown.at(-1)
  const end = last && chain.indexOf(last) + 1
  const window = cutRows(
    chain.slice(0, end).map((revision) => ({
      id: revision.id,
      at: revision.date,
      depth: revision.version,
      record:
        start.place && shown.includes(revision)
          ? revisionRecord(state, { ...start.place, revision }, surface, includeData ?? false)
          : undefined,
    })),
    { order: 'descending', ...windowing },
  )
  if (window === 'unknown cursor') return { request, expected: refused('invalid_request') }
  const body = {
    count: window.rows.length,
    [`${surface}_revisions`]: window.rows,
    ...(window.next === undefined ? {} : { windowing: { ...windowing, next: window.next } }),
  }
  return { request, expected: answered(body) }
}

/** Where a log begins; `place` is undefined where there is nothing to list (an empty list, interface 3.5). */
function logStart(
  state: ModelState,
  of: LogStep['of'],
  pick: number,
): { readonly id: string; readonly place?: RevisionAt | undefined } | undefined {
  if (of === 'revision') {
    const place = pickFrom(revisionsOf(state), pick)
    return place && { id: place.revision.id, place }
  }
  if (of === 'variant') {
    const place = pickFrom(variantsOf(state), pick)
    return place && { id: place.variant.id, place: headOf(place) }
  }
  const artifact = pickFrom(state.artifacts, pick)
  const variant = artifact?.variants[0]
  return artifact && { id: artifact.id, place: variant && headOf({ artifact, variant }) }
}

/** A log begins at the head, which only shows if archived ones are asked for. */
function headOf(place: VariantAt): RevisionAt | undefined {
  const revision = place.variant.head
  return revision && { ...place, revision }
}

import type { Planned } from '../expectation.ts'
import type { ModelFilter, ModelQuery, QueryLevel } from '../state/model-query.ts'
import { expectedList } from '../state/model-query.ts'
import type { ModelReference } from '../state/model-references.ts'
import type { ModelState } from '../state/model-state.ts'
import { definedOf, revisionsOf, variantsOf } from '../state/model-state.ts'
import { referenceTo, windowingOf } from './pick-targets.ts'
import { pathOf } from './plan-archive.ts'
import type { FilterStep, Pick, QueryStep, ReferenceStep, Step } from '../step.ts'

/** `POST …/query` at every level (interface 2.16, 2.10, 2.18). */
export function planQuery(state: ModelState, step: QueryStep & Step): Planned {
  const { surface, level, includeArchived, inUrl } = step
  const windowing = windowingOf(rowsAt(state, level), step.windowing)
  const references = (of: 'artifact' | 'variant' | 'revision', list: readonly ReferenceStep[] | undefined) =>
    list?.map((it): ModelReference => referenceTo(state, of, it))
  const query: ModelQuery = {
    filter: step.filter && filterOf(state, step.filter, step.pick),
    artifacts: references('artifact', step.artifacts),
    variants: level === 'variant' || level === 'revision' ? references('variant', step.variants) : undefined,
    revisions: level === 'revision' ? references('revision', step.revisions) : undefined,
    includeArchived,
    windowing,
  }
  return listing(state, surface, level, query, inUrl)
}

/** A query as it is sent, and what it must answer. */
export function listing(
  state: ModelState,
  surface: Step['surface'],
  level: QueryLevel,
  query: ModelQuery,
  inUrl: boolean,
): Planned {
  const { filter, artifacts, variants, revisions, includeArchived, windowing } = query
  const members = definedOf({
    [level === 'artifact' || level === 'flat' ? surface : `${surface}_${level}`]: filter,
    [`${surface}_refs`]: artifacts,
    [`${surface}_variant_refs`]: variants,
    [`${surface}_revision_refs`]: revisions,
    include_archived: includeArchived,
    windowing,
  })
  const parameters = new URLSearchParams()
  const inBody = Object.entries(members).filter(([name, member]) => {
    const written = inUrl ? asParameters(name, member) : undefined
    for (const [key, value] of written ?? []) parameters.append(key, value)
    return written === undefined
  })
  const suffix = parameters.size > 0 ? `?${parameters}` : ''
  const request = {
    method: 'POST' as const,
    path: `${pathOf(level, surface)}/query${suffix}`,
    body: Object.fromEntries(inBody),
  }
  return { request, expected: expectedList(state, level, surface, query) }
}

/** A member of a query as parameters of the query string (interface 2.15); undefined where it has no such form. */
function asParameters(name: string, member: unknown): readonly (readonly [string, string])[] | undefined {
  if (typeof member !== 'object' || member === null) return [[name, String(member)]]
  if (Array.isArray(member)) return referenceParameters(name.replace(/_refs$/, ''), member)
  const fields = Object.entries(member)
  // What is not there at all says something else than what is there and empty.
  if (fields.length === 0 || fields.some(([field]) => !IN_URL.includes(field))) return undefined
  return fields.map(([field, value]) => [
    field,
    typeof value === 'object' ? JSON.stringify(value) : String(value),
  ])
}

/** The fields of filters and windowing that may be parameters; slugs there are references. */
const IN_URL = 'name description message author date flags tags meta limit order next newest oldest'.split(
  ' ',
)

function referenceParameters(
  level: string,
  references: readonly ModelReference[],
): (readonly [string, string])[] | undefined {
  const isPlain = references.every(
    ({ id, slug, version }) => version === undefined && (id === undefined) !== (slug === undefined),
  )
  if (!isPlain || references.length === 0) return undefined
  return references.map(({ id, slug = '' }, index) => {
    const plural = index === 0 ? '' : 's'
    return id === undefined ? [`${level}_slug${plural}`, slug] : [`${level}_id${plural}`, id]
  })
}

/** The filter of a step, about the revisions there are now. */
function filterOf(state: ModelState, { ofRevision, ...filter }: FilterStep, pick: Pick): ModelFilter {
  if (!ofRevision) return filter
  const { message, flags } = ofRevision
  const author =
    ofRevision.author && (ofRevision.author === 'own' ? state.actor.author : 'Ann <ann@b.example>')
  const dates = revisionsOf(state).map(({ revision }) => revision.date)
  const date = ofRevision.date === undefined ? undefined : dates[ofRevision.date % Math.max(1, dates.length)]
  const isOne = pick % 2 === 0
  return {
    ...filter,
    ...definedOf({
      message,
      flags: flags && { ...filter.flags, ...flags },
      author: isOne ? author : undefined,
      authors: isOne || author === undefined ? undefined : ['Bob <bob@b.example>', author],
      date: isOne ? date : undefined,
      // The same instant in another spelling.
      dates: isOne || date === undefined ? undefined : [date.replace('Z', '.000+00:00')],
    }),
  }
}

function rowsAt(state: ModelState, level: QueryLevel): { readonly id: string; readonly at: string }[] {
  if (level === 'revision')
    return revisionsOf(state).map(({ revision }) => ({ id: revision.id, at: revision.date }))
  const things = level === 'variant' ? variantsOf(state).map(({ variant }) => variant) : state.artifacts
  return things.map(({ id, lifecycle }) => ({ id, at: lifecycle.created_at }))
}

import type { Planned } from '../expectation.ts'
import type { QueryLevel } from './model-query.ts'
import { SURFACES } from './model-records.ts'
import type { ModelState } from './model-state.ts'
import { revisionsOf, shownSlug, variantsOf } from './model-state.ts'
import { listing } from '../plan/plan-query.ts'
import { planGet, planLog, retrieval } from '../plan/plan-read.ts'

const LEVELS: readonly QueryLevel[] = ['artifact', 'variant', 'revision', 'flat']

/** Requests that together ask for everything a registry holds, each on one surface or another. */
export function wholeState(state: ModelState): Planned[] {
  const surfaceAt = (index: number) => SURFACES[index % SURFACES.length] ?? 'workflow'
  const counts = {
    artifact: state.artifacts.length,
    flat: state.artifacts.length,
    variant: variantsOf(state).length,
    revision: revisionsOf(state).length,
  }
  const gets = LEVELS.flatMap((level) =>
    Array.from({ length: counts[level] }, (_, index) =>
      planGet(state, { ...at(index), kind: 'get', level, pick: index }),
    ),
  )
  const lists = LEVELS.flatMap((level) =>
    SURFACES.flatMap((surface) =>
      [true, false].map((includeArchived) => listing(state, surface, level, { includeArchived }, false)),
    ),
  )
  const logs = variantsOf(state).map((_, index) =>
    planLog(state, {
      ...at(index),
      kind: 'log',
      of: 'variant',
      pick: index,
      depth: undefined,
      includeData: true,
      includeArchived: true,
      windowing: undefined,
    }),
  )
  const latest = variantsOf(state).map(({ variant }, index) =>
    retrieval(state, surfaceAt(index), { variant: { slug: variant.slug } }, 'POST'),
  )
  const bySlug = revisionsOf(state).map((place, index) =>
    retrieval(state, surfaceAt(index), { revision: { slug: shownSlug(place) } }, 'GET'),
  )
  return [...gets, ...lists, ...logs, ...latest, ...bySlug]

  function at(index: number) {
    return { surface: surfaceAt(index), wait: 0, server: 0, restart: false, upkeep: undefined }
  }
}

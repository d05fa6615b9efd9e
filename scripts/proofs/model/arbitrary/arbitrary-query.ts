import fc from 'fast-check'
import { maybe, META, pick, RARELY, roles, slug, TAGS } from './arbitrary-header.ts'
import { definedOf } from '../state/model-state.ts'
import type { FilterStep, ReferencesStep, ReferenceStep, WindowingStep } from '../step.ts'

/** A reference, mostly to what its request is about. */
export const reference: fc.Arbitrary<ReferenceStep> = fc.record({
  by: fc.oneof(
    { weight: 4, arbitrary: fc.constant('id' as const) },
    { weight: 5, arbitrary: fc.constant('slug' as const) },
    { weight: 3, arbitrary: fc.constant('slug and version' as const) },
    { weight: 2, arbitrary: fc.constant('version' as const) },
    { weight: 1, arbitrary: fc.constant('nothing' as const) },
  ),
  stray: fc.nat(3).map((number) => number === 3),
  pick,
})

const LEVELS: ('artifact' | 'variant' | 'revision')[] = ['artifact', 'variant', 'revision']

/** References of one request, seldom none. */
export const references: fc.Arbitrary<ReferencesStep> = fc
  .record({
    about: pick,
    levels: fc.oneof(
      { weight: 20, arbitrary: fc.subarray(LEVELS, { minLength: 1 }) },
      { weight: 1, arbitrary: fc.constant<typeof LEVELS>([]) },
    ),
    artifact: reference,
    variant: reference,
    revision: reference,
  })
  .map(({ about, levels, ...all }) => ({
    about,
    artifact: undefined,
    variant: undefined,
    revision: undefined,
    ...Object.fromEntries(levels.map((level) => [level, all[level]])),
  }))

/** A window of any kind, its cursor and times picked when its step runs. */
export const windowing: fc.Arbitrary<WindowingStep> = fc.record({
  limit: maybe(fc.integer({ min: 1, max: 4 }), 75),
  order: maybe(fc.constantFrom('ascending' as const, 'descending' as const)),
  next: maybe(pick),
  newest: maybe(pick, RARELY),
  oldest: maybe(pick, RARELY),
})

const payloadFlags = fc
  .record({
    is_chat: maybe(fc.boolean()),
    has_script: maybe(fc.boolean()),
    is_managed: maybe(fc.boolean(), RARELY),
    has_url: maybe(fc.boolean(), RARELY),
  })
  .map((flags) => definedOf(flags))

const ofRevision = maybe(
  fc
    .record({
      message: maybe(fc.constantFrom('COOL', 'body', 'Slug: rel', '')),
      author: maybe(fc.constantFrom('own' as const, 'others' as const)),
      date: maybe(pick),
      flags: maybe(payloadFlags),
    })
    .map((fields) => definedOf(fields)),
  30,
)

/** Filters that match some of what the histories make. */
export const filter: fc.Arbitrary<FilterStep> = fc
  .record({
    slug: maybe(slug, RARELY),
    slugs: maybe(fc.array(slug, { maxLength: 4 }), RARELY),
    name: maybe(fc.constantFrom('alpha', 'Z', '%'), RARELY),
    description: maybe(fc.constantFrom('tick', ''), RARELY),
    flags: maybe(roles, RARELY),
    tags: maybe(fc.constantFrom(...TAGS), RARELY),
    meta: maybe(fc.constantFrom(...META), RARELY),
    ofRevision,
  })
  .map((fields) => definedOf(fields))

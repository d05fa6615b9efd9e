import fc from 'fast-check'
import type { ModelDelta } from '../state/model-data.ts'
import { SURFACES } from '../state/model-records.ts'
import { definedOf } from '../state/model-state.ts'
import type { Action, PayloadText, Step } from '../step.ts'
import { UPKEEP } from '../step.ts'
import { MESSAGES, RARELY, header, maybe, pick, roles, slug } from './arbitrary-header.ts'
import { DELTAS, payload } from './arbitrary-payload.ts'
import { filter, reference, references, windowing } from './arbitrary-query.ts'

const EDITS = header.chain((fields) =>
  fc
    .record({
      flags: maybe(fc.option(roles)),
      cleared: fc.subarray(['name', 'description', 'tags', 'meta'] as const),
    })
    .map(({ flags, cleared }) => ({
      ...fields,
      ...Object.fromEntries(cleared.map((name) => [name, null])),
      ...definedOf({ flags }),
    })),
)

const anyLevel = fc.constantFrom(
  'artifact' as const,
  'variant' as const,
  'revision' as const,
  'flat' as const,
)

const creation = {
  kind: fc.constant('create' as const),
  slug: maybe(slug, 60),
  header,
  flags: maybe(roles),
  message: maybe(fc.constantFrom(...MESSAGES)),
}
const create = fc.record({ ...creation, simple: fc.boolean(), data: maybe(payload, 75) })

const commit = fc.record({
  kind: fc.constant('commit' as const),
  pick,
  payload: fc.oneof(
    { weight: 8, arbitrary: payload as fc.Arbitrary<PayloadText | ModelDelta | 'none' | 'both'> },
    { weight: 4, arbitrary: fc.constantFrom(...DELTAS) },
    { weight: 2, arbitrary: fc.constantFrom('none' as const, 'both' as const) },
  ),
  message: maybe(fc.constantFrom(...MESSAGES), 75),
  header,
  slug: maybe(slug, RARELY),
  base: fc.oneof(
    { weight: 6, arbitrary: fc.constant('none' as const) },
    {
      weight: 2,
      arbitrary: fc.constantFrom('latest' as const, 'match latest' as const, 'match any' as const),
    },
    { weight: 1, arbitrary: fc.constantFrom('other' as const, 'match other' as const) },
  ),
  first: fc.nat(9).map((number) => number === 9),
})

const fork = fc.record({
  kind: fc.constant('fork' as const),
  references,
  slug: maybe(slug, 40),
  header,
  shared: fc.boolean(),
})

const actions: fc.Arbitrary<Action> = fc.oneof(
  { weight: 4, arbitrary: create },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('variant' as const), pick, slug: maybe(slug, 80), header }),
  },
  { weight: 10, arbitrary: commit },
  { weight: 4, arbitrary: fork },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('archive' as const),
      level: fc.oneof(
        { weight: 4, arbitrary: fc.constant('revision' as const) },
        { weight: 3, arbitrary: fc.constant('variant' as const) },
        { weight: 2, arbitrary: anyLevel },
      ),
      pick,
      // Oftener undone than done, so that an archived artifact does not end a history.
      undo: fc.nat(9).map((number) => number > 3),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('edit' as const),
      level: fc.constantFrom('artifact' as const, 'variant' as const, 'flat' as const),
      pick,
      edit: EDITS,
      data: maybe(payload),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('get' as const), level: anyLevel, pick }) },
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant('retrieve' as const),
      references,
      method: fc.constantFrom('GET' as const, 'POST' as const),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('log' as const),
      of: fc.constantFrom('artifact' as const, 'variant' as const, 'revision' as const),
      pick,
      depth: maybe(fc.integer({ min: 1, max: 4 })),
      includeData: maybe(fc.boolean()),
      includeArchived: maybe(fc.boolean()),
      windowing: maybe(windowing),
    }),
  },
  {
    weight: 10,
    arbitrary: fc.record({
      kind: fc.constant('query' as const),
      level: anyLevel,
      pick,
      filter: maybe(filter, 40),
      artifacts: maybe(fc.array(reference, { maxLength: 2 }), RARELY),
      variants: maybe(fc.array(reference, { maxLength: 2 }), RARELY),
      revisions: maybe(fc.array(reference, { maxLength: 3 }), RARELY),
      includeArchived: maybe(fc.boolean()),
      windowing: maybe(windowing, 60),
      inUrl: fc.boolean(),
    }),
  },
)

function withCommon(arbitrary: fc.Arbitrary<Action>): fc.Arbitrary<Step> {
  const common = fc.record({
    surface: fc.constantFrom(...SURFACES),
    wait: fc.constantFrom(0, 0, 0, 1, 3, 250, 1000, 4000),
    server: pick,
    restart: fc.nat(29).map((number) => number === 29),
    upkeep: maybe(fc.constantFrom(...UPKEEP), 10),
  })
  return fc.tuple(arbitrary, common).map(([action, about]) => ({ ...action, ...about }))
}

/** Steps that make something to work with: without them, half the requests of a history would be about nothing. */
const first = withCommon(fc.record({ ...creation, simple: fc.constant(true), data: payload }))
const growth = withCommon(
  fc.oneof(
    { weight: 3, arbitrary: commit },
    { weight: 2, arbitrary: fork },
    { weight: 1, arbitrary: create },
  ),
)

/**
 * A random history of requests. Without fast-check's bias towards small numbers, which would make it a short one about
 * first things.
 */
export function arbitraryHistory(maxSteps: number): fc.Arbitrary<readonly Step[]> {
  const grown = Math.floor(maxSteps / 3)
  return fc.noBias(
    fc
      .tuple(
        fc.array(first, { maxLength: 4, size: 'max' }),
        fc.array(growth, { maxLength: grown, size: 'max' }),
        fc.array(withCommon(actions), { maxLength: maxSteps - grown - 4, size: 'max' }),
      )
      .map((phases) => phases.flat()),
  )
}

import fc from 'fast-check'
import type { Members, ModelDelta } from './model-data.ts'
import type { ModelFilter } from './model-query.ts'
import { SURFACES } from './model-records.ts'
import type { ModelHeader } from './model-state.ts'
import { definedOf } from './model-state.ts'
import type { Action, PayloadText, ReferencesStep, ReferenceStep, Step, WindowingStep } from './step.ts'

/** Few slugs, so that they clash: across levels, in case only, and with `<variant>-<number>`. */
const SLUGS = ['a', 'A', 'a-2', 'b', 'B-1', 'b-2', 'c.d', '_x', 'c.d-3', 'rel-1.0', 'a-2-1', 'v', 'v-7x']
const NAMES = ['Alpha', 'alpha two', 'ALPHABET', 'Zoë', '%_']
const MESSAGES = [
  'cooler',
  'Cooler again\n\nwith a body',
  'two\n\nVariant: b',
  'Slug: rel',
  ' spaces \n',
  'signed\n\nSigned-off-by: A <a@b>',
  '# not a comment\r\n',
]
const TAGS: readonly Members[] = [{ team: 'x' }, { team: 'y', n: { a: 'b', c: true } }, { n: { a: 'b' } }, {}]
const META: readonly Members[] = [{ owner: 'ana' }, { deep: { x: 1, y: [1, null] } }, { deep: { x: 1 } }]
const PARAMETERS = [
  '{}',
  '{"prompt":{"messages":[{"role":"system","content":"Hi {{name}}"}],"template_format":"curly"}}',
  '{"10":1,"2":12345678901234567890,"__proto__":{"x":0.1000000000000000055}}',
  '{"a":{"b":{"c":1,"d":null}},"list":[1,{"z":null},[]]}',
  '{"big":1e400,"text":"line\\nend \\"quoted\\" ☃"}',
]
const URIS = ['user:custom:fn:latest', 'svc:custom:hook:v0', 'svc:custom:code:v0']
const DELTAS: readonly ModelDelta[] = [
  { set: { parameters: { n: 5 } } },
  { set: { parameters: { a: { b: { e: [2] } }, list: [9] } } },
  { remove: ['parameters.a.b', 'nothing.here'] },
  { set: { uri: null, parameters: { prompt: null } } },
  { set: { uri: 'svc:custom:hook:v0' }, remove: ['parameters.n', 'url'] },
  { set: { parameters: null } },
]

const pick = fc.nat(997)
const slug = fc.constantFrom(...SLUGS)
/** Present in so many of a hundred cases; shrinks to absent. */
const maybe = <T>(arbitrary: fc.Arbitrary<T>, percent = 50): fc.Arbitrary<T | undefined> =>
  fc.oneof(
    { withCrossShrink: true },
    { weight: 100 - percent, arbitrary: fc.constant(undefined) },
    { weight: percent, arbitrary },
  )
const RARELY = 15

const header: fc.Arbitrary<ModelHeader> = fc
  .record({
    name: maybe(fc.constantFrom(...NAMES)),
    description: maybe(fc.constantFrom('', 'Sort tickets', 'alpha')),
    tags: maybe(fc.constantFrom(...TAGS)),
    meta: maybe(fc.constantFrom(...META)),
  })
  .map((fields) => definedOf(fields))

const roles = fc
  .record({
    is_application: maybe(fc.boolean()),
    is_evaluator: maybe(fc.boolean()),
    is_snippet: maybe(fc.boolean()),
  })
  .map((flags) => definedOf(flags))

const payload: fc.Arbitrary<PayloadText> = fc
  .record({
    parameters: maybe(
      fc.oneof(
        fc.constantFrom(...PARAMETERS),
        fc.nat(99).map((n) => `{"n":${n}}`),
      ),
      90,
    ),
    uri: maybe(fc.constantFrom(...URIS)),
    url: maybe(fc.constant('https://hooks.example/run'), RARELY),
    script: maybe(fc.constant({ runtime: 'python', script: 'def f():\n  return 1\n' })),
    chat: fc.boolean(),
  })
  .map(({ parameters, uri, url, script, chat }) => {
    const inputs = { type: 'object', properties: { m: { 'x-svc-type-ref': 'messages' } } }
    const schemas = { ...(chat ? { inputs } : {}), outputs: { type: 'string' } }
    const members = [
      ...Object.entries(definedOf({ uri, url, schemas, ...script })).map(
        ([key, value]) => `"${key}":${JSON.stringify(value)}`,
      ),
      ...(parameters === undefined ? [] : [`"parameters":${parameters}`]),
    ]
    return { text: `{${members.join(',')}}`, parameters }
  })

const reference: fc.Arbitrary<ReferenceStep> = fc.record({
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

const references: fc.Arbitrary<ReferencesStep> = fc.record({
  about: pick,
  artifact: maybe(reference),
  variant: maybe(reference),
  revision: maybe(reference),
})

const windowing: fc.Arbitrary<WindowingStep> = fc.record({
  limit: maybe(fc.integer({ min: 1, max: 4 }), 75),
  order: maybe(fc.constantFrom('ascending' as const, 'descending' as const)),
  next: maybe(pick),
  newest: maybe(pick, RARELY),
  oldest: maybe(pick, RARELY),
})

const filter: fc.Arbitrary<ModelFilter> = fc
  .record({
    slug: maybe(slug, RARELY),
    slugs: maybe(fc.array(slug, { maxLength: 4 }), RARELY),
    name: maybe(fc.constantFrom('alpha', 'Z', '%'), RARELY),
    description: maybe(fc.constantFrom('tick', ''), RARELY),
    flags: maybe(roles, RARELY),
    tags: maybe(fc.constantFrom(...TAGS), RARELY),
    meta: maybe(fc.constantFrom(...META), RARELY),
  })
  .map((fields) => definedOf(fields))

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

const create = fc.record({
  kind: fc.constant('create' as const),
  simple: fc.boolean(),
  slug: maybe(slug, 80),
  header,
  flags: maybe(roles),
  data: maybe(payload, 75),
  message: maybe(fc.constantFrom(...MESSAGES)),
})

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

const actions: fc.Arbitrary<Action> = fc.oneof(
  { weight: 4, arbitrary: create },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('variant' as const), pick, slug: maybe(slug, 80), header }),
  },
  { weight: 10, arbitrary: commit },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('fork' as const),
      references,
      slug: maybe(slug, 80),
      header,
      shared: fc.boolean(),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('archive' as const),
      level: anyLevel,
      pick,
      undo: fc.boolean(),
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
      filter: maybe(filter, 60),
      artifacts: maybe(fc.array(reference, { maxLength: 2 }), RARELY),
      variants: maybe(fc.array(reference, { maxLength: 2 }), RARELY),
      revisions: maybe(fc.array(reference, { maxLength: 3 }), RARELY),
      includeArchived: maybe(fc.boolean()),
      windowing: maybe(windowing, 60),
      inUrl: fc.boolean(),
    }),
  },
)

const step: fc.Arbitrary<Step> = fc
  .tuple(
    actions,
    fc.record({
      surface: fc.constantFrom(...SURFACES),
      wait: fc.constantFrom(0, 0, 0, 1, 3, 250, 1000, 4000),
      server: pick,
    }),
  )
  .map(([action, common]) => ({ ...action, ...common }))

/** A random history of requests. */
export function arbitraryHistory(maxSteps: number): fc.Arbitrary<readonly Step[]> {
  return fc.array(step, { minLength: 1, maxLength: maxSteps, size: 'max' })
}

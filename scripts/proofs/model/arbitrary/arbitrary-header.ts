import fc from 'fast-check'
import type { Members } from '../state/model-data.ts'
import type { ModelHeader } from '../state/model-state.ts'
import { definedOf } from '../state/model-state.ts'

/** Few slugs, so that they clash: across levels, in case only, and with `<variant>-<number>`. */
const SLUGS = ['a', 'A', 'a-2', 'b', 'B-1', 'b-2', 'c.d', '_x', 'c.d-3', 'rel-1.0', 'a-2-1', 'v', 'v-7x']
const NAMES = ['Alpha', 'alpha two', 'ALPHABET', 'Zoë', '%_']
/** Commit messages, of which some end like trailers and some with blanks. */
export const MESSAGES = [
  'cooler',
  'Cooler again\n\nwith a body',
  'two\n\nVariant: b',
  'Slug: rel',
  ' spaces \n',
  'signed\n\nSigned-off-by: A <a@b>',
  '# not a comment\r\n',
]
/** Tags that contain one another. */
export const TAGS: readonly Members[] = [
  { team: 'x' },
  { team: 'y', n: { a: 'b', c: true } },
  { n: { a: 'b' } },
  {},
]
/** Meta that contain one another. */
export const META: readonly Members[] = [
  { owner: 'ana' },
  { deep: { x: 1, y: [1, null] } },
  { deep: { x: 1 } },
]

/** Picks a thing when its step runs. */
export const pick = fc.nat(997)
/** A slug that somebody else may have. */
export const slug = fc.constantFrom(...SLUGS)
/** Present in so many of a hundred cases; shrinks to absent. */
export const maybe = <T>(arbitrary: fc.Arbitrary<T>, percent = 50): fc.Arbitrary<T | undefined> =>
  fc.oneof(
    { withCrossShrink: true },
    { weight: 100 - percent, arbitrary: fc.constant(undefined) },
    { weight: percent, arbitrary },
  )
/** Present in so many of a hundred cases, where several may be. */
export const RARELY = 15

/** The header of a create, a commit or a fork. */
export const header: fc.Arbitrary<ModelHeader> = fc
  .record({
    name: maybe(fc.constantFrom(...NAMES)),
    description: maybe(fc.constantFrom('', 'Sort tickets', 'alpha')),
    tags: maybe(fc.constantFrom(...TAGS)),
    meta: maybe(fc.constantFrom(...META)),
  })
  .map((fields) => definedOf(fields))

/** Some of the role flags. */
export const roles = fc
  .record({
    is_application: maybe(fc.boolean()),
    is_evaluator: maybe(fc.boolean()),
    is_snippet: maybe(fc.boolean()),
  })
  .map((flags) => definedOf(flags))

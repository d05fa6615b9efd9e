import fc from 'fast-check'

/** Keys that mean something to a JavaScript engine, to the interface or to nobody. */
const KEYS = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '@svc.embed',
  '@svc.references',
  '@svc.selector',
  '$ref',
  'id',
  'slug',
  'data',
  '',
  '.',
  'a/b',
  'é',
]

/** Texts that something in the service might read in its own way. */
const TEXTS = [
  '',
  ' ',
  '0',
  '-1',
  'null',
  'true',
  '../../etc/passwd',
  'refs/heads/x',
  'HEAD',
  'a.lock',
  '.git',
  '-',
  '\u0000',
  '\ud800',
  '😀',
  '\r\nX: y',
  '{{name}}',
  '{{ user.name | upper }}',
  '{% for a in b %}{{a}}{% endfor %}',
  '{% raw %}',
  '{name!r:>10}',
  '{{#a}}x{{/a}}',
  '{{{',
  '@{{workflow.slug=bot, path=a}}',
  '@svc.embed[',
  '$..*',
  '/a/~2',
  '2026-11-21T00:00:00Z',
  '9999999999999999999999',
  '(a+)+$',
  '%00',
  "'; drop table spans; --",
  'x'.repeat(300),
]

/** Any text, with a liking for those that are trouble elsewhere. */
export const arbitraryText: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...TEXTS) },
  { weight: 2, arbitrary: fc.string({ maxLength: 20 }) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 8 }) },
)

const arbitraryNumber = fc.oneof(
  fc.integer({ min: -3, max: 100 }),
  fc.constantFrom(0, -0, 1.5, 1e21, 1e-7, 2 ** 53, 2 ** 31, -(2 ** 63), Number.MAX_VALUE),
)

/** Any JSON value, small. */
export const arbitraryJunk: fc.Arbitrary<unknown> = fc.letrec<{ any: unknown }>((tie) => ({
  any: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    arbitraryText,
    arbitraryNumber,
    fc.constantFrom(null, true, false),
    fc.array(tie('any'), { maxLength: 4 }),
    arbitraryJunkObject(tie('any')),
  ),
})).any

/** An object of odd keys; `__proto__` is one of its own. */
export function arbitraryJunkObject(value: fc.Arbitrary<unknown>): fc.Arbitrary<object> {
  const key = fc.oneof(fc.constantFrom(...KEYS), fc.string({ maxLength: 6 }))
  return fc.array(fc.tuple(key, value), { maxLength: 4 }).map((entries) => {
    const made = Object.create(null) as Record<string, unknown> // so that no key is special
    for (const [name, held] of entries) made[name] = held
    return made
  })
}

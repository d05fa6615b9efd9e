import fc from 'fast-check'
import { ExactNumber, type Json, fromEntries } from '../../../src/base/json/json.ts'

const literal = fc.oneof(
  fc.constantFrom('1.0', '-0', '1e400', '1E+2', '12345678901234567890', '0.1000000000000000055', '-0.0'),
  fc.bigInt({ min: 10n ** 20n, max: 10n ** 40n }).map(String),
)

const key = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom(
    '__proto__',
    'constructor',
    'toString',
    '0',
    '10',
    '4294967294',
    '01',
    'a.b',
    'a/b',
    '~1',
    '',
  ),
)

/** Any value that `parseJson` could have made: awkward keys, exact numbers, every kind of character, all orders. */
export const arbitraryJson: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom(null, true, false),
    fc.integer(),
    // String(-0) is "0", so the parser never makes it
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => (number === 0 ? 0 : number)),
    fc.string({ unit: 'binary' }),
    // A literal that a double prints as it stands is a plain number to the parser.
    literal.filter((text) => String(Number(text)) !== text).map((text) => new ExactNumber(text)),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.array(fc.tuple(key, tie('value')), { maxLength: 5 }).map(fromEntries),
  ),
})).value

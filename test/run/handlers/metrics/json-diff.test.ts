import { expect } from 'chai'
import fc from 'fast-check'
import { TimeSlice } from '../../../../src/base/scheduling/cooperative.ts'
import { jsonDiff, type JsonDiffOptions } from '../../../../src/run/handlers/metrics/json-diff.ts'
import type { Json } from '../../../../src/base/json/json.ts'
import { parseJson } from '../../../../src/base/json/parse-json.ts'
import { arbitraryJson } from '../../../support/values/arbitrary-json.ts'

describe('handlers: the diff of two documents', () => {
  const score = (expected: string, actual: string, options = ''): Promise<number> =>
    diff(parseJson(expected), parseJson(actual), {
      comparesTypesOnly: options.includes('types'),
      countsExtraLeaves: options.includes('extra'),
      ignoresKeyCase: options.includes('case'),
    })

  const table: readonly [expected: string, actual: string, options: string, score: number, why: string][] = [
    ['{"a":1,"b":2}', '{"a":1,"b":3}', '', 0.5, 'the share of equal leaves'],
    ['{"a":1}', '{"a":1,"b":3}', '', 1, 'what only the output has does not count'],
    ['{"a":1}', '{"a":1,"b":3}', 'extra', 0.5, 'unless it shall'],
    ['{}', '{}', '', 1, 'an object that holds nothing is a leaf'],
    ['[]', '[]', '', 1, 'an array that holds nothing, too'],
    ['null', 'null', '', 1, 'and null'],
    ['{}', '[]', '', 0, 'and these are not the same'],
    ['{}', '{"a":1}', '', 0, 'what holds something is not what holds nothing'],
    ['{"a":1}', '{}', '', 0, 'nor the other way round'],
    ['5', '5', '', 1, 'a scalar is a leaf'],
    ['{"a":{},"b":[]}', '{"a":{},"b":[1]}', '', 0.5, 'deep down, too'],
    ['{"a":[]}', '{"a":[1]}', 'types', 1, 'empty or not, it is of its type'],
    ['{"a":[1]}', '{"a":[]}', 'types', 0, 'but what is in it has to be there'],
    ['{"a":{"b":[1,{"c":2}]}}', '{"a":{"b":[1,{"c":2}]}}', '', 1, 'leaves are deep'],
    ['[1,2]', '[2,1]', '', 0, 'indexes are steps'],
    ['[1,2]', '{"0":1,"1":2}', '', 1, 'and spelt like keys'],
    ['{"a.b":1}', '{"a":{"b":1}}', '', 1, 'a dot in a key is a step'],
    ['{"a":{"b":2},"a.b":1}', '{"a.b":1}', '', 1, 'of two leaves with one path the later counts'],
    ['{"a":null,"b":1}', '{"a":null,"b":1}', '', 1, 'null is null'],
    ['{"a":null}', '{}', '', 0, 'but not nothing'],
    ['{"a":true}', '{"a":1}', '', 1, 'true is 1'],
    ['{"a":1}', '{"a":1.0}', '', 1, '1 is 1.0'],
    ['{"a":"1"}', '{"a":1}', '', 0, 'a string is no number'],
    ['{"a":12345678901234567890}', '{"a":12345678901234567891}', '', 0, 'numbers are exact'],
    ['{"a":1,"b":"x"}', '{"a":2,"b":"y"}', 'types', 1, 'types only'],
    ['{"a":1}', '{"a":1.0}', 'types', 0, 'integer and float are two types'],
    ['{"a":true}', '{"a":1}', 'types', 0, 'true has the type of no number'],
    ['{"A":1}', '{"a":1}', '', 0, 'case counts in keys'],
    ['{"A":1}', '{"a":1}', 'case', 1, 'unless it shall not'],
    ['{"a":{"B":"x"}}', '{"A":{"b":"X"}}', 'case', 0, 'in keys only'],
    ['{"A":1}', '{"a":1,"B":2}', 'case extra', 0.5, 'in extra ones too'],
    ['{"__proto__":1}', '{"__proto__":1}', '', 1, 'any key is a key'],
    ['{"__proto__":1}', '{}', '', 0, 'and is there only where it is'],
  ]
  for (const [expected, actual, options, result, why] of table) {
    it(`${why}: ${expected} ${actual} ${options}`, async () => {
      expect(await score(expected, actual, options)).to.equal(result)
    })
  }

  it('is 1 for a document and itself, and between 0 and 1 for any two', () => {
    return fc.assert(
      fc.asyncProperty(
        arbitraryJson,
        arbitraryJson,
        fc.constantFrom('', 'types', 'extra case'),
        async (a, b, options) => {
          const of = (actual: Json): Promise<number> =>
            diff(a, actual, {
              comparesTypesOnly: options === 'types',
              countsExtraLeaves: options !== '',
              ignoresKeyCase: options.includes('case'),
            })
          expect(await of(b)).to.be.within(0, 1)
          expect(await of(a)).to.equal(1)
        },
      ),
    )
  })

  it('long keys over many leaves cost no more than the document', async () => {
    const [inner, key] = [
      Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`k${at}`, at])),
      'x'.repeat(1e6),
    ]
    const document = { [key]: { [`${key}.${'.'.repeat(100_000)}`]: inner } }
    const options = { comparesTypesOnly: false, countsExtraLeaves: true, ignoresKeyCase: true }
    expect(await diff(document, document, options)).to.equal(1)
  })
})

function diff(expected: Json, actual: Json, options: JsonDiffOptions): Promise<number> {
  return jsonDiff(expected, actual, options, new TimeSlice(undefined, () => new Error('too much')))
}

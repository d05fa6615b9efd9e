import { expect } from 'chai'
import fc from 'fast-check'
import { fromEntries, type Json, type JsonObject } from '../../../src/base/json/json.ts'
import { parseJson } from '../../../src/base/json/parse-json.ts'
import { stringifyJson } from '../../../src/base/json/stringify-json.ts'
import {
  acceptQueryData,
  decodeQuery,
  encodeQuery,
  isQueryFile,
} from '../../../src/registry/families/query-family.ts'
import { arbitraryJson } from '../../support/values/arbitrary-json.ts'
import { refusalOfAsync } from '../refusal-of.ts'
import { writtenFile } from '../written-file.ts'

type Members = readonly (readonly [string, Json])[]

/** Some of the members, in any order. */
function someOf(members: Readonly<Record<string, fc.Arbitrary<Json>>>): fc.Arbitrary<Members> {
  const each = Object.entries(members).map(([key, value]) => value.map((it) => [key, it] as const))
  return fc.tuple(...each).chain((all) => fc.shuffledSubarray(all))
}

const condition: fc.Arbitrary<JsonObject> = someOf({
  key: fc.string({ unit: 'grapheme' }),
  value: arbitraryJson,
  operator: fc.constantFrom('is', 'btwn', 'not_exists', null),
  options: someOf({ case_sensitive: fc.boolean(), all: fc.constant(null) }).map(fromEntries),
}).map((members) => fromEntries([...members, ['field', 'attributes']]))

/** Any data that is accepted: members left out, null, and in any order. */
const acceptable: fc.Arbitrary<JsonObject> = fc
  .letrec<{ filtering: JsonObject }>((tie) => ({
    filtering: someOf({
      operator: fc.constantFrom('and', 'or', 'not', 'nand', 'nor', null),
      conditions: fc.array(fc.oneof({ maxDepth: 3 }, condition, tie('filtering')), { maxLength: 4 }),
    }).map((members) => fromEntries([['conditions', []], ...members])),
  }))
  .filtering.chain((filtering) =>
    someOf({
      filtering: fc.constantFrom(filtering, null),
      formatting: someOf({ focus: fc.constantFrom('trace', 'span', null) }).map(fromEntries),
      windowing: someOf({ limit: fc.integer({ min: 1 }), rate: fc.constantFrom(0, 0.5, null) }).map(
        fromEntries,
      ),
      traces: arbitraryJson,
    }).map(fromEntries),
  )

describe('query files', () => {
  it('writes data.json as a person would, keys and digits as they came', () => {
    expect(
      written(parseJson('{"windowing":{"rate":0.50,"limit":1},"formatting":{}}') as JsonObject),
    ).to.equal('{\n  "windowing": {\n    "rate": 0.50,\n    "limit": 1\n  },\n  "formatting": {}\n}\n')
  })

  it('keeps an empty payload, and reads none from no data.json', async () => {
    expect(written({})).to.equal('{}\n')
    expect(await decode('{}\n')).to.deep.equal({})
    expect(await decode(undefined)).to.equal(undefined)
  })

  it('owns its file and no others', () => {
    expect(['data.json', 'references.json', 'x/data.json'].filter(isQueryFile)).to.deep.equal(['data.json'])
  })

  it('reads back whatever was accepted', async () => {
    await fc.assert(
      fc.asyncProperty(acceptable, async (sent) => {
        const { data } = acceptQueryData(sent, { loc: [], servicesBase: '' })
        expect(stringifyJson(await decode(written(data)))).to.equal(stringifyJson(data))
        expect(stringifyJson(acceptQueryData(data, { loc: [], servicesBase: '' }).data)).to.equal(
          stringifyJson(data),
        )
      }),
    )
  })

  it('reads back what is nested as deeply as a body may ever be', async () => {
    const text = `{"filtering":${'{"conditions":['.repeat(498)}${']}'.repeat(498)}}`
    const { data } = acceptQueryData(parseJson(text, { maxDepth: 1000 }), { loc: [], servicesBase: '' })
    expect(stringifyJson(await decode(written(data)))).to.equal(stringifyJson(data))
  })

  it('after a push: reads any layout, and what clients may leave out', async () => {
    expect(
      stringifyJson(await decode('\ufeff{"traces":1,\r\n"filtering" :{"conditions":[]},"windowing":null}')),
    ).to.equal('{"filtering":{"conditions":[],"operator":"and"}}')
  })

  for (const [what, file, words] of [
    ['no JSON', '{\n  "a": oops\n}', ['data.json', 'line 2', 'column 8']],
    ['no object', '[]', ['data.json', "a query's data", 'an array']],
    ['no UTF-8', Buffer.from([0x7b, 0xff]), ['data.json', 'line 1', 'column 2', 'UTF-8']],
    ['an unknown key', '{"a":1}', ['data.json: a: ', '"a" is not a key']],
    [
      'every condition that is none',
      '{"filtering":{"conditions":[{"field":1},{}]}}',
      ['data.json: filtering.conditions.0.field: ', 'filtering.conditions.1: '],
    ],
  ] as const) {
    it(`after a push: refuses ${what}, naming the place`, async () => {
      const { code, message } = await refusalOfAsync(() => decode(file))
      expect(code).to.equal('damaged_repository')
      for (const word of words) expect(message).to.contain(word)
    })
  }
})

function written(data: JsonObject): string {
  const files = encodeQuery(data)
  expect(files.map(({ path }) => path)).to.deep.equal(['data.json'])
  return files.map((file) => writtenFile(file).toString()).join('')
}

function decode(file: string | Buffer | undefined): Promise<JsonObject | undefined> {
  return decodeQuery(async (path) => {
    expect(isQueryFile(path), path).to.equal(true)
    return file === undefined ? undefined : Buffer.from(file)
  })
}

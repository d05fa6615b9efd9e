import { expect } from 'chai'
import fc from 'fast-check'
import {
  fromEntries,
  getKey,
  isJsonObject,
  keysOf,
  type Json,
  type JsonObject,
} from '../../../src/base/json/json.ts'
import { parseJson } from '../../../src/base/json/parse-json.ts'
import { stringifyJson } from '../../../src/base/json/stringify-json.ts'
import {
  acceptEnvironmentData,
  decodeEnvironment,
  encodeEnvironment,
  isEnvironmentFile,
} from '../../../src/registry/families/environment-surface.ts'
import { refusalOfAsync } from '../refusal-of.ts'
import { writtenFile } from '../written-file.ts'

describe('environment files', () => {
  it('writes the map of pins as a person would', () => {
    const data = parseJson('{"references":{"b":{"x":{"slug":"s","version":3}},"1":{}}}') as JsonObject
    expect(written(data)).to.equal(
      '{\n  "b": {\n    "x": {\n      "slug": "s",\n      "version": 3\n    }\n  },\n  "1": {}\n}\n',
    )
  })

  it('writes no pins as an empty map', async () => {
    expect(written({ references: {} })).to.equal('{}\n')
    expect(await decode('{}\n')).to.deep.equal({ references: {} })
  })

  it('reads no data from a tree without references.json', async () => {
    expect(await decode(undefined)).to.equal(undefined)
  })

  it('owns its file and no others', () => {
    expect(
      ['references.json', 'data.json', 'README.md', 'x/references.json'].filter(isEnvironmentFile),
    ).to.deep.equal(['references.json'])
  })

  it('reads back whatever was accepted', async () => {
    const key = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom('__proto__', 'constructor', '../x', '7', '0', 'a.revision', ''),
    )
    const reference = fc.record(
      {
        id: fc.oneof(
          fc.uuid(),
          fc.uuid().map((id) => id.toUpperCase()),
          fc.constant(null),
        ),
        slug: fc.constantFrom('a', 'Support-Bot', '1.x', null),
        version: fc.oneof(fc.integer({ min: 1 }), fc.integer({ min: 1 }).map(String), fc.constant(null)),
      },
      { requiredKeys: [] },
    )
    const mapOf = (value: fc.Arbitrary<Json>): fc.Arbitrary<JsonObject> =>
      fc.array(fc.tuple(key, value), { maxLength: 5 }).map(fromEntries)
    const references = fc.option(mapOf(mapOf(reference)))
    await fc.assert(
      fc.asyncProperty(references, async (sent) => {
        const { data } = acceptEnvironmentData({ references: sent }, { loc: [], servicesBase: '' })
        const back = await decode(written(data))
        expect(stringifyJson(back)).to.equal(stringifyJson(data))
        expect(keysOf(pinned(data))).to.deep.equal(keysOf(sent ?? {}))
      }),
    )
  })

  it('after a push: reads any layout, and what clients may leave out or spell otherwise', async () => {
    expect(
      stringifyJson(await decode('\ufeff{"a" :{"x":{"version":"2",\r\n"note":1,"id":null}},"__proto__":{}}')),
    ).to.equal('{"references":{"a":{"x":{"version":2}},"__proto__":{}}}')
  })

  for (const [what, file, words] of [
    ['no JSON', '{\n  "a": oops\n}', ['references.json', 'line 2', 'column 8']],
    ['an empty file', '', ['references.json', 'line 1', 'column 1']],
    ['a key given twice', '{"a":{},"a":{}}', ['references.json', '"a"', 'twice']],
    ['no object', 'null', ['references.json', 'null']],
    ['no UTF-8', Buffer.from('{"é": "\xff"}', 'latin1'), ['line 1', 'column 3', 'UTF-8']],
    ['a group that is none', '{"a":[]}', ['references.json: a: ', 'an array']],
    [
      'references that are none, every one',
      '{"a":{"x":null,"y":{"version":0,"slug":".."}}}',
      ['references.json: a.x: ', 'a.y.version: ', 'a.y.slug: '],
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
  const files = encodeEnvironment(data)
  expect(files.map(({ path }) => path)).to.deep.equal(['references.json'])
  return files.map((file) => writtenFile(file).toString()).join('')
}

function decode(file: string | Buffer | undefined): Promise<JsonObject | undefined> {
  return decodeEnvironment(async (path) => {
    expect(isEnvironmentFile(path), path).to.equal(true)
    return file === undefined ? undefined : Buffer.from(file)
  })
}

function pinned(data: JsonObject): JsonObject {
  const references = getKey(data, 'references')
  if (isJsonObject(references)) return references
  throw new Error('data without references')
}

import { expect } from 'chai'
import { selectValue } from '../../../../src/registry/embeds/select-value.ts'
import type { Json } from '../../../../src/base/json/json.ts'
import { parseJson } from '../../../../src/base/json/parse-json.ts'
import { stringifyJson } from '../../../../src/base/json/stringify-json.ts'
import { refusalOf } from '../refusal-of.ts'

const TEXT = `{"parameters": {"voice": "calm", "none": null, "off": false, "n": 12345678901234567890, "one": 1.0,
  "list": [{"id": 1, "a": {"10": "x", "2": "y", "b": -0}}, {"id": 2}, "s"], "a.b": {"c": 1}, "": {"": 5},
  "__proto__": {"polluted": 1e400}}, "a.b": "literal", "references": {"bot.revision": {"x/y": {"~z": 7}}}}`
const DATA = parseJson(TEXT)

/** The text of what a path selects, so that nothing gets lost in a comparison. */
const select = (path: string, value: Json = DATA) => stringifyJson(selectValue(value, path, () => undefined))
const refused = async (path: string, value: Json = DATA) => (await refusalOf(() => select(path, value))).code

// interface 10.8
describe('embeds: selecting with dot notation', () => {
  for (const [path, value] of [
    ['parameters.voice', '"calm"'],
    ['.parameters..voice.', '"calm"'],
    ['parameters.none', 'null'],
    ['parameters.off', 'false'],
    ['parameters.n', '12345678901234567890'],
    ['parameters.one', '1.0'],
    ['parameters.list.0.id', '1'],
    ['parameters.list.00.id', '1'],
    ['parameters.list.0.a', '{"10":"x","2":"y","b":-0}'],
    ['parameters.list.0.a.10', '"x"'],
    ['parameters.__proto__', '{"polluted":1e400}'],
    ['parameters.__proto__.polluted', '1e400'],
    ['a.b', '"literal"'],
  ] as const)
    it(`${path} selects ${value}`, () => expect(select(path)).to.equal(value))

  for (const path of [
    'parameters.gone',
    'parameters.voice.length',
    'parameters.voice.0',
    'parameters.none.x',
    'parameters.list.3',
    'parameters.list.-1',
    'parameters.list.length',
    'parameters.list.map',
    'parameters.list[0]',
    'parameters.n.literal',
    'parameters.constructor',
    'parameters.toString',
    '__proto__',
    'constructor',
    'references.bot.revision',
    '../parameters',
  ])
    it(`${path} selects nothing`, async () => expect(await refused(path)).to.equal('embed_path_not_found'))
})

// interface 10.8
describe('embeds: selecting with a JSON Pointer', () => {
  for (const [path, value] of [
    ['/parameters/voice', '"calm"'],
    ['/parameters/list/1/id', '2'],
    ['/references/bot.revision/x~1y/~0z', '7'],
    ['/parameters/a.b/c', '1'],
    ['/parameters//', '5'],
  ] as const)
    it(`${path} selects ${value}`, () => expect(select(path)).to.equal(value))

  for (const path of [
    '/',
    '/parameters/',
    '/gone',
    '/parameters/list/-',
    '/parameters/voice/0',
    '/constructor',
  ])
    it(`${path} selects ${path === '/parameters/' ? 'a member' : 'nothing'}`, async () => {
      if (path === '/parameters/') expect(select(path)).to.equal('{"":5}')
      else expect(await refused(path)).to.equal('embed_path_not_found')
    })
})

// interface 10.8
describe('embeds: selecting with JSONPath', () => {
  for (const [path, value] of [
    ['$.parameters.voice', '"calm"'],
    ["$['parameters']['a.b'].c", '1'],
    ['$.parameters.n', '12345678901234567890'],
    ['$.parameters.none', 'null'],
    ['$..id', '[1,2]'],
    ['$.parameters.list[?@.id > 1]', '{"id":2}'],
    ['$.parameters.list[-1]', '"s"'],
    ['$.parameters.list[0:2].id', '[1,2]'],
    ['$.parameters.list[0].a.*', '["x","y",-0]'],
    ['$.parameters[?@ > 1e19]', '12345678901234567890'],
    ['$.parameters.list[?@.a == $.parameters.list[0].a].id', '1'],
    ['$.parameters.list[?length(@.a) == 3].id', '1'],
    ['$.parameters.list[?count(@.*) == 2].id', '1'],
    ["$.parameters['__proto__'].polluted", '1e400'],
    ['$.parameters.list[?@.id]', '[{"id":1,"a":{"10":"x","2":"y","b":-0}},{"id":2}]'],
  ] as const)
    it(`${path} selects ${value}`, () => expect(select(path)).to.equal(value))

  it('$ selects everything, as it is', () => {
    expect(select('$')).to.equal(stringifyJson(DATA))
  })

  for (const path of [
    '$.gone',
    '$..gone',
    '$.constructor',
    '$.__proto__',
    "$.parameters.list['length']",
    '$.parameters.list[9]',
    '$parameters',
    '$.',
    '$[',
    '$[?match(@.voice, "c.*")]',
    '$[?search(@.voice, "c")]',
    '$[?env()]',
    `$${'.a'.repeat(500)}`,
    `$[?${'('.repeat(900)}`,
    `$[${'"a",'.repeat(300)}"parameters"]`,
  ])
    it(`${path.slice(0, 40)} selects nothing`, async () =>
      expect(await refused(path)).to.equal('embed_path_not_found'))

  it('tells what it looks at, so that a hostile query ends', async () => {
    const wide = parseJson(
      stringifyJson(Array.from({ length: 40 }, () => Array.from({ length: 40 }, () => [1, 2]))),
    )
    for (const query of [
      '$..*..*..*',
      '$..[?count(@..*..*..*) > 1e9]',
      '$[?count($..*..*) > 1]',
      '$..*[?count($..*) > 1e9]',
    ]) {
      let left = 5000
      const spend = (values: number) => {
        if ((left -= values) < 0) throw new RangeError('spent')
      }
      expect(() => selectValue(wide, query, spend), query).to.throw(RangeError, 'spent')
    }
  })

  it('looks at long strings for more than one value', () => {
    let spent = 0
    selectValue({ a: 'x'.repeat(1_000_000) }, '$[?length(@) > 1]', (values) => (spent += values))
    expect(spent).to.be.greaterThan(3000)
  })
})

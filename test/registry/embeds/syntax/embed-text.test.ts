import { expect } from 'chai'
import fc from 'fast-check'
import { embedText } from '../../../../src/registry/embeds/resolve-embeds.ts'
import { equalJson } from '../../../../src/base/json/json.ts'
import { parseJson } from '../../../../src/base/json/parse-json.ts'
import { restsDuring } from '../../../support/rests.ts'
import { arbitraryJson } from '../../../support/values/arbitrary-json.ts'

describe('embeds: the text of a value', () => {
  for (const [json, text] of [
    ['"say \\"hi\\"\\n$&"', 'say "hi"\n$&'],
    ['null', 'null'],
    ['true', 'true'],
    ['0.7', '0.7'],
    ['1.0', '1.0'],
    ['12345678901234567890', '12345678901234567890'],
    ['{"b":1,"a":[1,2,{}],"10":[],"2":"x"}', '{"b": 1, "a": [1, 2, {}], "10": [], "2": "x"}'],
    ['["é","😀","\\u007f\\n\\"","ascii"]', '["\\u00e9", "\\ud83d\\ude00", "\\u007f\\n\\"", "ascii"]'],
    ['{"ключ":1,"__proto__":2}', '{"\\u043a\\u043b\\u044e\\u0447": 1, "__proto__": 2}'],
  ] as const)
    it(json, async () => expect(await embedText(parseJson(json))).to.equal(text))

  // interface 10.3
  it('is JSON of the same value, in ASCII, unless it is a string', async () => {
    const valid = arbitraryJson.filter(
      (value) => typeof value !== 'string' && isWellFormed(JSON.stringify(value)),
    )
    await fc.assert(
      fc.asyncProperty(valid, async (value) => {
        const text = await embedText(value)
        expect(text).to.match(/^[ -~]*$/)
        expect(equalJson(parseJson(text), value)).to.equal(true)
      }),
    )
  })

  it('is the same of heavy values, and gives others their turn', async () => {
    for (const value of [
      Array.from({ length: 5000 }, (_, number) => number),
      Object.fromEntries(Array.from({ length: 5000 }, (_, number) => [`é${number}`, [{}, [], 'é']])),
      ['é😀"'.repeat(100_000)],
      [[], Array.from({ length: 3000 }, () => ({ a: [1.5, null] })), {}],
    ]) {
      let text = ''
      expect(await restsDuring(async () => (text = await embedText(value)))).to.be.above(1)
      expect(text).to.match(/^[ -~]*$/)
      expect(text.slice(0, 40)).to.match(
        /^\[(?:0, 1, 2|"\\u00e9\\ud83d\\ude00\\"|\[\], )|^\{"\\u00e90": \[\{\}, \[\], "/,
      )
      expect(JSON.parse(text)).to.deep.equal(value)
    }
  })
})

/** The parser takes no lone surrogates, which `JSON.stringify` writes as escapes. */
function isWellFormed(text: string): boolean {
  return !/\\ud[89a-f]/i.test(text)
}

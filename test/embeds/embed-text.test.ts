import { expect } from 'chai'
import fc from 'fast-check'
import { embedText } from '../../src/embeds/embed-text.ts'
import { equalJson } from '../../src/json/equal-json.ts'
import { parseJson } from '../../src/json/parse-json.ts'
import { arbitraryJson } from '../json/arbitrary-json.ts'

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
    it(json, () => expect(embedText(parseJson(json))).to.equal(text))

  it('is JSON of the same value, in ASCII, unless it is a string', () => {
    const valid = arbitraryJson.filter(
      (value) => typeof value !== 'string' && isWellFormed(JSON.stringify(value)),
    )
    fc.assert(
      fc.property(valid, (value) => {
        const text = embedText(value)
        expect(text).to.match(/^[ -~]*$/)
        expect(equalJson(parseJson(text), value)).to.equal(true)
      }),
    )
  })
})

/** The parser takes no lone surrogates, which `JSON.stringify` writes as escapes. */
function isWellFormed(text: string): boolean {
  return !/\\ud[89a-f]/i.test(text)
}

import { expect } from 'chai'
import fc from 'fast-check'
import { containsDocument } from '../../../../src/run/handlers/evaluators/auto-contains-json.ts'
import { parsesAsJson } from '../../../../src/run/handlers/match/run-matchers.ts'

describe('handlers: whether a JSON object or array stands somewhere in a text', () => {
  const yes = [
    '{}',
    '[]',
    'Here: {"a": 1}. Enjoy }',
    '{"a": 1} {"b": 2}',
    '{ not this {"a": [1, 2]}',
    '```json\n[{"a": "b"}]\n```',
    'a {"open": "never closed" and then {"a": "}"}',
    'she said "see {"a": 1} there',
    '{"a": "x {} y',
    '{"a": "\\" {"} ',
    '[NaN, -Infinity, 1.5e-3, true, false, null]',
    '{"a": 1, "a": 2}',
    '{"items": [{"id": 1}, {"id',
    '{a: [1]}',
    '{{"a": 1}}',
  ]
  const no = [
    '',
    'x',
    '{',
    '} {',
    '][',
    '{a: 1}',
    "{'a': 1}",
    '[1,]',
    '[,1]',
    '{"a" 1}',
    '{"a": 1,}',
    '{"a": 01}',
    '[1 2]',
    '{"a": "\n"}',
    '{"a": "\\x"}',
    '{"a": 1]',
    '[1}',
    '{1: 2}',
    '[truex]',
    '{"a":}',
  ]
  for (const text of yes) it(`in ${text} it does`, () => expect(containsDocument(text)).to.equal(true))
  for (const text of no)
    it(`in ${text || 'nothing'} it does not`, () => expect(containsDocument(text)).to.equal(false))

  // interface 11.6
  it('finds what a search of every piece finds', () => {
    const pieces = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      '"',
      '\\',
      ':',
      ',',
      '1',
      'a',
      ' ',
      '"a"',
      '\n',
      'null',
    )
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 14 }), (parts) => {
        const text = parts.join('')
        expect(containsDocument(text), text).to.equal(anyPieceIs(text))
      }),
      { numRuns: 20_000 },
    )
  })

  it('looks at each place of a text a few times only, whatever it is made of', () => {
    for (const piece of ['[', '{"a":', '["', '{"', '["{', '["\\"', '{"a":"{"b":', '"[{', '[-']) {
      const text = new CountedText(piece.repeat(2000))
      containsDocument(text as unknown as string)
      expect(text.looks, piece).to.be.below(6 * text.length)
    }
  })
})

/** A text that counts how often one of its characters is looked at. */
class CountedText {
  looks = 0
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  get length(): number {
    return this.#text.length
  }

  charCodeAt(at: number): number {
    this.looks++
    return this.#text.charCodeAt(at)
  }

  /** Regular expressions read it so, one word or escape at a time. */
  toString(): string {
    return this.#text
  }
}

function anyPieceIs(text: string): boolean {
  for (let from = 0; from < text.length; from++) {
    if (!'{['.includes(text.charAt(from))) continue
    for (let to = from + 1; to <= text.length; to++) {
      if ('}]'.includes(text.charAt(to - 1)) && parsesAsJson(text.slice(from, to))) return true
    }
  }
  return false
}

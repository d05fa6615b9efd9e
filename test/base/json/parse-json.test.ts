import { deepStrictEqual } from 'node:assert'
import { expect } from 'chai'
import fc from 'fast-check'
import {
  ExactNumber,
  ExactObject,
  keysOf,
  getKey,
  isJsonObject,
  plainJson,
} from '../../../src/base/json/json.ts'
import { JsonTextError } from '../../../src/base/json/json-text-error.ts'
import { parseJson } from '../../../src/base/json/parse-json.ts'

describe('json: parse', () => {
  it('agrees with JSON.parse on ordinary texts, compact and indented', () => {
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 5, stringUnit: 'binary' }),
        fc.constantFrom(0, 1, 2, '\t'),
        (value, indent) => {
          const text = JSON.stringify(value, null, indent)
          deepStrictEqual(plainJson(parseJson(text)), JSON.parse(text))
        },
      ),
    )
  })

  it('refuses what JSON.parse refuses, and refuses nothing else but for its own reasons', () => {
    const pieces = '{}[]:,"\\0123.5eE+-tfn au\n\t\r\u00a0\u0001\ufeff'.split('')
    const words = [...pieces, 'true', 'false', 'null', '"a"', '\\u0041', '\\n', '1.5', '{"a":', '[1,']
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...words), { maxLength: 12 }), (parts) => {
        const text = parts.join('')
        const [ours, theirs] = [outcome(() => parseJson(text)), outcome(() => JSON.parse(text) as unknown)]
        if (ours.error instanceof JsonTextError && ours.error.kind !== 'syntax') return
        expect(ours.error === undefined, text).to.equal(theirs.error === undefined)
      }),
      { numRuns: 5000 },
    )
  })

  it('reads numbers that a double holds as numbers, all others digit for digit', () => {
    for (const text of [
      '0',
      '7',
      '-7',
      '0.5',
      '-0.25',
      '999999999999999',
      '9007199254740991',
      '1e+21',
      '5e-324',
    ]) {
      expect(parseJson(text), text).to.equal(Number(text))
    }
    const odd =
      '1.0 1e2 1E2 -0 0.0 12345678901234567890 0.1000000000000000055 1e400 -1e400 9007199254740993 1e-400 0e0'
    for (const text of odd.split(' ')) {
      expect(parseJson(text), text).to.be.instanceOf(ExactNumber).with.property('literal', text)
    }
  })

  it('keeps integer-like keys in place and __proto__ a key', () => {
    const value = parseJson('{"b":1,"10":2,"9":{"2":1,"1":2},"__proto__":{"x":1},"a":3}')
    expect(value).to.be.instanceOf(ExactObject)
    if (!isJsonObject(value)) return
    expect(keysOf(value)).to.deep.equal(['b', '10', '9', '__proto__', 'a'])
    expect(getKey(value, '__proto__')).to.deep.equal({ x: 1 })
    expect(({} as { x?: number }).x).to.equal(undefined)
  })

  it('takes the names of Object.prototype for ordinary keys', () => {
    const value = parseJson('{"constructor":1,"toString":2,"hasOwnProperty":3,"valueOf":null}')
    expect(Object.entries(value as object)).to.deep.equal([
      ['constructor', 1],
      ['toString', 2],
      ['hasOwnProperty', 3],
      ['valueOf', null],
    ])
  })

  it('reads long strings as short ones', () => {
    for (const plain of [997, 1000, 1001, 1002, 5000]) {
      const long = 'a'.repeat(plain)
      for (const text of [long, `${long}\\"${long}`, `\\n${long}\\\\`, `${long}\\u00e9${long}${long}é`])
        expect(parseJson(`["${text}","b"]`), text.length.toString()).to.deep.equal([
          JSON.parse(`"${text}"`),
          'b',
        ])
      expect(() => parseJson(`["${long}`)).to.throw('the closing quote of a string')
      expect(() => parseJson(`["${long}\n"]`)).to.throw(`column ${plain + 3} (in 0): A control character`)
      expect(() => parseJson(`["${long}\\q"]`)).to.throw('is no escape of JSON')
    }
  })

  it('reads every escape, and pairs of surrogates raw and escaped', () => {
    expect(parseJson('"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uD83D\\uDE00😀"')).to.equal('"\\/\b\f\n\r\té😀😀')
  })

  const refusals: [string, string, JsonTextError['kind'], number, number, (string | number)[]][] = [
    ['an empty text', '', 'syntax', 1, 1, []],
    ['white space alone', ' \n ', 'syntax', 2, 2, []],
    ['a byte order mark', '\ufeff{}', 'syntax', 1, 1, []],
    ['a trailing comma in an object', '{"a":1,}', 'syntax', 1, 8, []],
    ['a trailing comma in an array', '{"a":[1,]}', 'syntax', 1, 9, ['a', 1]],
    ['a missing colon', '{"a" 1}', 'syntax', 1, 6, ['a']],
    ['a missing comma', '[1 2]', 'syntax', 1, 4, []],
    ['a key without quotes', '{a:1}', 'syntax', 1, 2, []],
    ['single quotes', "{'a':1}", 'syntax', 1, 2, []],
    ['an unclosed object', '{"a":1', 'syntax', 1, 7, []],
    ['an unclosed array', '[1', 'syntax', 1, 3, []],
    ['an unclosed string', '["a', 'syntax', 1, 4, [0]],
    ['a string that ends in a backslash', '"a\\', 'syntax', 1, 4, []],
    ['text after the value', '{} {}', 'syntax', 1, 4, []],
    ['a raw newline in a string', '"a\nb"', 'syntax', 1, 3, []],
    ['a raw NUL in a key', '{"\0":1}', 'syntax', 1, 3, []],
    ['a raw newline behind a backslash', '"a\\\nb"', 'syntax', 1, 3, []],
    ['an unknown escape', '"a\\x41"', 'syntax', 1, 3, []],
    ['half a \\u escape', '"\\\\ \\u12"', 'syntax', 1, 5, []],
    ['a leading zero', '[01]', 'syntax', 1, 2, [0]],
    ['a leading plus', '+1', 'syntax', 1, 1, []],
    ['a lone minus', '-', 'syntax', 1, 2, []],
    ['a lone point', '1.', 'syntax', 1, 3, []],
    ['an empty exponent', '1e+', 'syntax', 1, 4, []],
    ['a point without digits', '.5', 'syntax', 1, 1, []],
    ['NaN', 'NaN', 'syntax', 1, 1, []],
    ['a misspelt word', 'tru', 'syntax', 1, 1, []],
    ['a comment', '{} // a', 'syntax', 1, 4, []],
    ['a no-break space', '\u00a0{}', 'syntax', 1, 1, []],
    ['a repeated key', '{"a":{"b":1,\n "b":1}}', 'duplicate_key', 2, 2, ['a', 'b']],
    ['a key repeated by an escape', '{"b":1,"\\u0062":1}', 'duplicate_key', 1, 8, ['b']],
    ['a repeated integer-like key', '[{"1":1,"1":1}]', 'duplicate_key', 1, 9, [0, '1']],
    ['a repeated __proto__', '{"__proto__":1,"__proto__":1}', 'duplicate_key', 1, 16, ['__proto__']],
    ['a key repeated around an awkward one', '{"a":1,"0":1,"a":1}', 'duplicate_key', 1, 14, ['a']],
    ['a repeated constructor', '{"constructor":1,"constructor":1}', 'duplicate_key', 1, 18, ['constructor']],
    ['an escaped lone surrogate', '{"a":["\\ud800"]}', 'lone_surrogate', 1, 7, ['a', 0]],
    ['surrogates the wrong way round', '"\\ude00\\ud83d"', 'lone_surrogate', 1, 1, []],
    ['a raw lone surrogate', '{"a":"\ud800"}', 'lone_surrogate', 1, 6, ['a']],
    ['an escaped lone surrogate in a key', '{"a":{"\\udc00":1}}', 'lone_surrogate', 1, 7, ['a']],
    ['a raw lone surrogate in a key', '{"\udc00":1}', 'lone_surrogate', 1, 2, []],
  ]
  for (const [what, text, kind, line, column, path] of refusals) {
    it(`refuses ${what}`, () => {
      const { error } = outcome(() => parseJson(text))
      expect(error).to.be.instanceOf(JsonTextError)
      expect(error).to.include({ kind, line, column })
      expect((error as JsonTextError).path).to.deep.equal(path)
      expect((error as JsonTextError).message).to.match(/^JSON line \d+, column \d+.*: [A-Z].*\.$/s)
    })
  }

  it('says what it expected, and what it found', () => {
    for (const [text, sentence] of [
      ['[1 2]', 'Expected "," or "]", but found "2".'],
      ['{"a":1 "b":2}', 'Expected "," or "}", but found "\\"".'],
      ['[1', 'Expected "," or "]", but the text ends.'],
      ['{"a" 1}', 'Expected ":" after the key, but found "1".'],
      ['{a:1}', 'Expected a key in double quotes, but found "a".'],
      ['[]x', 'Expected the end of the text, but found "x".'],
      ['', 'Expected a value, but the text ends.'],
    ] as const)
      expect(
        (outcome(() => parseJson(text)).error as Error).message.endsWith(`: ${sentence}`),
        text,
      ).to.equal(true)
  })

  it('refuses more levels than it was told, and takes that many', () => {
    const nested = (depth: number): string => '[{"a":'.repeat(depth / 2) + '1' + '}]'.repeat(depth / 2)
    expect(outcome(() => parseJson(nested(128))).error).to.equal(undefined)
    expect(outcome(() => parseJson(nested(130))).error).to.include({ kind: 'too_deep' })
    expect(outcome(() => parseJson('['.repeat(1_000_000))).error).to.include({
      kind: 'too_deep',
      column: 129,
    })
    expect(parseJson('[[1]]', { maxDepth: 2 })).to.deep.equal([[1]])
    expect(outcome(() => parseJson('[[[1]]]', { maxDepth: 2 })).error).to.include({
      kind: 'too_deep',
      column: 3,
    })
    expect(outcome(() => parseJson('[[{}]]', { maxDepth: 2 })).error).to.include({ kind: 'too_deep' })
  })
})

function outcome(act: () => unknown): { readonly error: unknown } {
  try {
    act()
    return { error: undefined }
  } catch (error) {
    return { error }
  }
}

import { expect } from 'chai'
import { type JsonObject, isJsonObject } from '../../../../../src/base/json/json.ts'
import { parseJson } from '../../../../../src/base/json/parse-json.ts'
import { renderTemplate } from '../../../../../src/run/templates/render-template.ts'
import { TemplateFailure } from '../../../../../src/run/templates/template-format.ts'

/** A value, a field's rest, and what CPython 3.12 makes of it; undefined where it raises. */
const CASES: readonly (readonly [value: string, rest: string, text: string | undefined])[] = [
  ['"héllo"', ':>8', '   héllo'],
  ['"héllo"', ':*^9', '**héllo**'],
  ['"héllo"', ':.2', 'hé'],
  ['"héllo"', ':d', undefined],
  ['"héllo"', ':,', undefined],
  ['"héllo"', ':05', 'héllo'],
  ['7', ':05', '00007'],
  ['-42', ':05d', '-0042'],
  ['-42', ':=8', '-     42'],
  ['7', ':+d', '+7'],
  ['255', ':x', 'ff'],
  ['255', ':#X', '0XFF'],
  ['255', ':#b', '0b11111111'],
  ['255', ':_b', '1111_1111'],
  ['65', ':c', 'A'],
  ['1234567890', ':,', '1,234,567,890'],
  ['12345678901234567890123', ':_', '12_345_678_901_234_567_890_123'],
  ['7', ':08,d', '0,000,007'],
  ['7', ':.2', undefined],
  ['7', ':.2f', '7.00'],
  ['7', ':s', undefined],
  ['1.5', ':d', undefined],
  ['1.5', ':.0f', '2'],
  ['2.5', ':.0f', '2'],
  ['0.125', ':.2f', '0.12'],
  ['123456.789', ':,.2f', '123,456.79'],
  ['123456.789', ':e', '1.234568e+05'],
  ['2.5', ':.0e', '2e+00'],
  ['123456.789', ':g', '123457'],
  ['1.5e300', ':.3G', '1.5E+300'],
  ['0.125', ':%', '12.500000%'],
  ['0.125', ':.1%', '12.5%'],
  ['1.0', ':.3', '1.0'],
  ['123456.789', ':.6', '1.23457e+05'],
  ['-0.0', ':.1f', '-0.0'],
  ['0.1', ':.20f', '0.10000000000000000555'],
  ['true', '', 'True'],
  ['true', ':d', '1'],
  ['null', ':5', undefined],
  ['[1]', ':5', undefined],
  ['[1]', '!s:>5', '  [1]'],
  ['"it\'s"', '!r', '"it\'s"'],
  ['"a\\n\\u00a0\\\\"', '!r', "'a\\n\\xa0\\\\'"],
  ['"é"', '!a', "'\\xe9'"],
  ['"é"', '!z', undefined],
]

describe('prompts: fstring', () => {
  // interface 11.22
  it('formats as Python does', () => {
    for (const [value, rest, text] of CASES) {
      const render = (): string => renderTemplate('fstring', `{v${rest}}`, variables(`{"v": ${value}}`))
      if (text === undefined) expect(render, `${value} ${rest}`).to.throw(TemplateFailure)
      else expect(render(), `${value} ${rest}`).to.equal(text)
    }
  })

  it('fills in a format that holds fields itself', () => {
    expect(renderTemplate('fstring', '{v:{fill}>{width}}|', { v: 'a', fill: '-', width: 4 })).to.equal(
      '---a|',
    )
    expect(() => renderTemplate('fstring', '{v:{width:{width}}}', { v: 'a', width: 4 })).to.throw(
      TemplateFailure,
    )
  })

  it('takes brackets that hold what ends a field elsewhere', () => {
    expect(renderTemplate('fstring', '{v[a!b:c}d]}', variables('{"v": {"a!b:c}d": 1}}'))).to.equal('1')
  })

  it('refuses to be padded without end', () => {
    expect(() => renderTemplate('fstring', '{v:999999999}', { v: 'a' })).to.throw(TemplateFailure, 'too wide')
    expect(() => renderTemplate('fstring', '{v:.999f}', { v: 1 })).to.throw(
      TemplateFailure,
      'too many digits',
    )
  })
})

function variables(text: string): JsonObject {
  const parsed = parseJson(text)
  if (!isJsonObject(parsed)) throw new Error('the variables of this test are an object')
  return parsed
}

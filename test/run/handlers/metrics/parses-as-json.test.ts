import { expect } from 'chai'
import { parsesAsJson } from '../../../../src/run/handlers/match/run-matchers.ts'

describe('handlers: whether a text is JSON', () => {
  const yes = [
    '{}',
    ' [1] ',
    '5',
    '"NaN"',
    '{"a": NaN, "b": [Infinity, -Infinity]}',
    'NaN',
    '{"NaN": "-Infinity \\" NaN", "b": NaN}',
    '{"a": 1, "a": 2}',
  ]
  const no = [
    '',
    'x',
    '{a: 1}',
    "{'a': 1}",
    '{"a": 1}, {"b": 2}',
    '-NaN',
    'NaNa',
    '{NaN: 1}',
    '[1NaN]',
    '{"a":NaN}"\\',
    '{"a":NaN',
    '[1.NaN]',
  ]
  for (const text of yes) it(`${text} is`, () => expect(parsesAsJson(text)).to.equal(true))
  for (const text of no) it(`${text || 'nothing'} is not`, () => expect(parsesAsJson(text)).to.equal(false))

  it('reads a text no more than a few times, whatever it is made of', () => {
    expect(parsesAsJson('NaN' + '\\"'.repeat(1_000_000))).to.equal(false)
    expect(parsesAsJson(`[${'"\\"NaN",'.repeat(300_000)}NaN]`)).to.equal(true)
    expect(parsesAsJson('{"a":'.repeat(100_000))).to.equal(false)
  })
})

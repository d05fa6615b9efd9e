import { expect } from 'chai'
import fc from 'fast-check'
import { stringifyJson } from '../../../../../src/base/json/stringify-json.ts'
import type { FileLimits } from '../../../../../src/registry/testsets/files/file-row.ts'
import { jsonLinesRows } from '../../../../../src/registry/testsets/files/json-lines-rows.ts'
import { STRETCH, WIDE, chunksOf, outcomeOf, refusalOf, rowsOf, textsOf } from '../../files/read-rows.ts'

function read(file: string, limits: FileLimits = WIDE): ReturnType<typeof jsonLinesRows> {
  return jsonLinesRows(chunksOf(file), limits)
}

async function refused(file: string, limits?: FileLimits): Promise<unknown[]> {
  const { code, data, message } = await refusalOf(read(file, limits))
  expect(message).to.match(/^Line \d+, column \d+: [^]*[.)]$/)
  return [code, data.details?.['line'], data.details?.['column']]
}

describe('testset files: JSON Lines rows', () => {
  it('are the objects of the lines, exactly; blank lines are none', async () => {
    const file = '\ufeff{"b":1.0,"10":{"__proto__":[]}}\r\n\n \t\r\n  {"a":"é😀"} \n{}'
    expect((await rowsOf(read(file))).map(({ data, line }) => [line, stringifyJson(data)])).to.deep.equal([
      [1, '{"b":1.0,"10":{"__proto__":[]}}'],
      [4, '{"a":"é😀"}'],
      [5, '{}'],
    ])
    for (const empty of ['', '\n', ' ']) {
      expect((await refusalOf(read(empty))).code).to.equal('empty_file')
      expect(await textsOf(jsonLinesRows(chunksOf(empty), { ...WIDE, allowEmpty: true }))).to.deep.equal([])
    }
  })

  for (const [what, file, line, column] of [
    ['an array', '[{"a":1}]', 1, 1],
    ['a scalar', '{}\n 5\n', 2, 2],
    ['an object over several lines', '{}\n{\n"a":1}', 2, 2],
    ['two objects in a line', '{"é":1} {"b":1}', 1, 9],
    ['NaN', '{"a":1}\n\n  {"😀":NaN}\n', 3, 8],
    ['an object that is not closed', '{"a":1}\n{"a":', 2, 6],
    ['a key given twice', '{"a":1,"a":2}', 1, 8],
  ] as const) {
    it(`refuse ${what}, naming line and column`, async () => {
      expect(await refused(file)).to.deep.equal(['invalid_file', line, column])
    })
  }

  it('are bounded before anything grows, ended or not', async () => {
    const bounds = { maxRowBytes: 300_000, maxColumns: 1000 }
    const members = Array.from({ length: 1001 }, (_, index) => `"${index}":1`)
    expect(await refused(`{}\n{"a":"${'é'.repeat(1_000_000)}`, bounds)).to.deep.equal([
      'limit_exceeded',
      2,
      1,
    ])
    expect(await refused(`{"a":"${'é'.repeat(150_000)}"}\n`, bounds)).to.deep.equal(['limit_exceeded', 1, 1])
    expect(await refused(`{}\n{${members.join()}}\n`, bounds)).to.deep.equal(['limit_exceeded', 2, 1])
    const many = { maxRowBytes: 2000, maxColumns: 2 }
    expect(await rowsOf(read(`{"a":"${'x'.repeat(1000)}"}\n`.repeat(1000), many))).to.have.length(1000)
  })

  it('come out the same wherever the file is cut', async () => {
    const words = ['{"a":1}', '{"é":"😀"}', '\n', '\r\n', ' ', '{', '}', '"']
    const bodies = fc.array(fc.constantFrom(...words), { maxLength: 8 }).map((parts) => parts.join(''))
    await fc.assert(
      fc.asyncProperty(bodies, fc.nat(30), async (body, before) => {
        const cut = await outcomeOf(read(`${' '.repeat(STRETCH - before)}\n${body}`))
        expect(cut).to.deep.equal(await outcomeOf(read(`\n${body}`)))
      }),
      { numRuns: 200 },
    )
  })
})

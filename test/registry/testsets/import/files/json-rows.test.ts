import { expect } from 'chai'
import fc from 'fast-check'
import { fromEntries } from '../../../../../src/base/json/json.ts'
import { stringifyJson } from '../../../../../src/base/json/stringify-json.ts'
import type { FileLimits } from '../../../../../src/registry/testsets/files/file-row.ts'
import { jsonRows } from '../../../../../src/registry/testsets/files/json-rows.ts'
import { arbitraryJson } from '../../../../support/values/arbitrary-json.ts'
import { STRETCH, WIDE, chunksOf, outcomeOf, refusalOf, rowsOf, textsOf } from '../../files/read-rows.ts'

function read(file: string | Buffer, limits: FileLimits = WIDE): ReturnType<typeof jsonRows> {
  return jsonRows(chunksOf(file), limits)
}

async function refused(file: string | Buffer, limits?: FileLimits): Promise<unknown[]> {
  const { code, data, message } = await refusalOf(read(file, limits))
  expect(message).to.match(/^Line \d+, column \d+: [^]*[.)]$/)
  return [code, data.details?.['line'], data.details?.['column']]
}

describe('testset files: JSON rows', () => {
  it('are the objects of the array, exactly, with the line each begins on', async () => {
    const file =
      '\ufeff [\n{"b":1.0,"10":"=1","9":[{"x":null}],"__proto__":{}} ,\r\n\t{ "a" : "]}\\"{[,\\\\" },{}\n,{\n}]\n\n'
    expect((await rowsOf(read(file))).map(({ data, line }) => [line, stringifyJson(data)])).to.deep.equal([
      [2, '{"b":1.0,"10":"=1","9":[{"x":null}],"__proto__":{}}'],
      [3, '{"a":"]}\\"{[,\\\\"}'],
      [3, '{}'],
      [4, '{}'],
    ])
    expect(await textsOf(read('[]'))).to.deep.equal([])
    expect(await textsOf(read(' [ ] '))).to.deep.equal([])
  })

  for (const [what, file, line, column] of [
    ['an object', '{"a":1}', 1, 1],
    ['a scalar', '\n 5', 2, 2],
    ['a second array', '[{}] []', 1, 6],
    ['one object a line', '{"a":1}\n{"a":2}', 1, 1],
    ['a row that is a number', '[{},\n 5]', 2, 2],
    ['a row that is null', '[null]', 1, 2],
    ['a row that is an array', '[[1]]', 1, 2],
    ['a row that is NaN', '[NaN]', 1, 2],
    ['NaN in a row', '[\n{"é":1},\n  {"😀":NaN}]', 3, 8],
    ['NaN in a later line of a row', '[ {"a":1,\n"b":NaN}]', 2, 5],
    ['a comma before the end', '[{},]', 1, 5],
    ['a comma at the beginning', '[,{}]', 1, 2],
    ['two commas', '[{},,{}]', 1, 5],
    ['no comma', '[{} {}]', 1, 5],
    ['a comma before the end of a row', '[{"a":1,}]', 1, 9],
    ['an array that is not closed', '[{"a":1}\n', 2, 1],
    ['an array that is not closed after a comma', '[{"a":1},', 1, 10],
    ['a row that is not closed', '[{},\n {"a":[1]', 2, 2],
    ['a text that is not closed', '[{"a":"]}]', 1, 2],
    ['a bracket of the wrong kind', '[{"a":[1}]}]', 1, 9],
    ['a key given twice', '[{"a":1,"a":2}]', 1, 9],
    ['half of a surrogate pair', '[{"a":"\\ud800"}]', 1, 7],
    ['a line break in a text', '[{"a":"x\ny"}]', 1, 9],
    ['single quotes', "[{'a':1}]", 1, 3],
    [
      'broken UTF-8',
      Buffer.concat([Buffer.from('[{"é":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}]')]),
      1,
      8,
    ],
    ['nesting without end', `[{"a":${'['.repeat(300)}${']'.repeat(300)}}]`, 1, 7 + 199],
  ] as const) {
    it(`refuse ${what}, naming line and column`, async () => {
      expect(await refused(file)).to.deep.equal(['invalid_file', line, column])
    })
  }

  it('are none in a file that holds nothing, where that is meant', async () => {
    for (const file of ['', '\n ']) {
      expect((await refusalOf(read(file))).code).to.equal('empty_file')
      expect(await textsOf(jsonRows(chunksOf(file), { ...WIDE, allowEmpty: true }))).to.deep.equal([])
    }
  })

  it('name the member that is bad', async () => {
    expect((await refusalOf(read('[{"q":{"a":[1,x]}}]'))).message).to.equal(
      'Line 1, column 15: Expected a value, but found "x". (in q.a.1)',
    )
  })

  it('may nest 200 levels deep', async () => {
    const row = `{"a":${'['.repeat(199)}${']'.repeat(199)}}`
    expect(await textsOf(read(`[${row}]`))).to.deep.equal([row])
  })

  it('are bounded before anything grows, closed or not', async () => {
    const bounds = { maxRowBytes: 300_000, maxColumns: 1000 }
    const members = Array.from({ length: 1001 }, (_, index) => `"${index}":[1,2,"a,b"]`)
    expect(await refused(`[{}, {"a":"${'é'.repeat(1_000_000)}`, bounds)).to.deep.equal([
      'limit_exceeded',
      1,
      6,
    ])
    expect(await refused(`[{"a":"${'é'.repeat(150_000)}"}]`, bounds)).to.deep.equal(['limit_exceeded', 1, 2])
    expect(await refused(`[\n{${members.join()}}]`, bounds)).to.deep.equal(['limit_exceeded', 2, 1])
    expect(await rowsOf(read(`[{${members.slice(1).join()}}]`, bounds))).to.have.length(1)
    const many = { maxRowBytes: 2000, maxColumns: 2 }
    const row = `{"a":"${'x'.repeat(1000)}"}`
    expect(await rowsOf(read(`[${`${row},`.repeat(999)}${row}]`, many))).to.have.length(1000)
    const small = { maxRowBytes: 8, maxColumns: 1 }
    expect(await textsOf(read('[{"a":12}]', small))).to.deep.equal(['{"a":12}'])
    expect(await refused('[{"a":123}]', small)).to.deep.equal(['limit_exceeded', 1, 2])
  })

  it('come out the same wherever the file is cut', async () => {
    const words = [
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      '"a"',
      '\\',
      '\\"',
      '{"a":1}',
      '},{',
      '\n',
      ' ',
      'é',
      '😀',
      'NaN',
      '1',
    ]
    const bodies = fc.array(fc.constantFrom(...words), { maxLength: 12 }).map((parts) => parts.join(''))
    await fc.assert(
      fc.asyncProperty(bodies, fc.nat(30), async (body, before) => {
        const file = (space: string): string => `[${space}\n{"a":1},${body}`
        const cut = await outcomeOf(read(file(' '.repeat(STRETCH - before))))
        expect(cut).to.deep.equal(await outcomeOf(read(file(''))))
      }),
      { numRuns: 300 },
    )
    const rows = '{"é":"😀\\\\\\"]}",\n"b":[{}]} ,\n{"c":1.0} ,{"d":NaN}]'
    for (let before = 0; before < 60; before++) {
      const file = `[${' '.repeat(STRETCH - before)}\n${rows}`
      expect((await refusalOf(read(file))).data.details).to.deep.equal({ line: 4, column: 17 })
      const good = await rowsOf(read(file.replace('NaN', 'null')))
      expect(good.map(({ data, line }) => [line, stringifyJson(data)])).to.deep.equal([
        [2, '{"é":"😀\\\\\\"]}","b":[{}]}'],
        [4, '{"c":1.0}'],
        [4, '{"d":null}'],
      ])
    }
  })

  it('of any content come back equal', async () => {
    const row = fc.uniqueArray(fc.tuple(fc.string(), arbitraryJson), {
      selector: ([key]) => key,
      maxLength: 4,
    })
    await fc.assert(
      fc.asyncProperty(
        fc.array(row.map(fromEntries)),
        fc.constantFrom(undefined, 2 as const),
        async (rows, indent) => {
          expect(await textsOf(read(stringifyJson(rows, indent)))).to.deep.equal(
            rows.map((one) => stringifyJson(one)),
          )
        },
      ),
    )
  })
})

import { expect } from 'chai'
import fc from 'fast-check'
import { ExactNumber, entriesOf, fromEntries, getKey, keysOf } from '../../../../../src/base/json/json.ts'
import { stringifyJson } from '../../../../../src/base/json/stringify-json.ts'
import { csvHeader, csvLine } from '../../../../../src/registry/testsets/csv-line.ts'
import { type CsvOptions, csvRows } from '../../../../../src/registry/testsets/files/csv-rows.ts'
import type { FileRow } from '../../../../../src/registry/testsets/files/file-row.ts'
import { STRETCH, WIDE, chunksOf, outcomeOf, refusalOf, rowsOf, textsOf } from '../../files/read-rows.ts'

function read(file: string | Buffer, options: Partial<CsvOptions> = {}): ReturnType<typeof csvRows> {
  return csvRows(chunksOf(file), { ...WIDE, infer: false, ...options })
}

async function refused(file: string | Buffer, options?: Partial<CsvOptions>): Promise<unknown[]> {
  const { code, data, message } = await refusalOf(read(file, options))
  expect(message).to.match(/^Line \d+, column \d+: [^]*[.?]$/)
  return [code, data.details?.['line'], data.details?.['column']]
}

const words = [
  ',',
  ',',
  '"',
  '"',
  '""',
  '\n',
  '\n',
  '\r\n',
  '\r',
  'a',
  'b',
  'é',
  '😀',
  ' ',
  '",',
  ',"',
  '"\n',
  'a,b\n',
]

/** What may follow a header of two columns, well formed now and then. */
const bodies = fc.array(fc.constantFrom(...words), { maxLength: 14 }).map((parts) => parts.join(''))

/** The records of a file by its grammar, which is slow and quick to check; undefined if it has none. */
function reference(file: string): string[][] | undefined {
  const records: string[][] = []
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/y
  let record: string[] = []
  while (cell.lastIndex < file.length || record.length > 0) {
    const [, quoted, plain, end] = cell.exec(file) ?? []
    if (end === undefined) return undefined
    if (quoted === undefined && plain === '' && end !== ',' && record.length === 0) continue
    record.push(quoted?.replaceAll('""', '"') ?? plain ?? '')
    if (end === ',') continue
    records.push(record)
    record = []
  }
  return records.every(({ length }) => length === records[0]?.length) ? records : undefined
}

describe('testset files: CSV rows', () => {
  it('are the cells under the names of the header, as they are, with the line each begins on', async () => {
    const file = 'q,a b,c\n1,,"x, ""y"""\n\ntrue, é😀 ,"two\r\nlines"\n=1+1,{},\n'
    expect((await rowsOf(read(file))).map(({ data, line }) => [line, stringifyJson(data)])).to.deep.equal([
      [2, '{"q":"1","a b":"","c":"x, \\"y\\""}'],
      [4, '{"q":"true","a b":" é😀 ","c":"two\\r\\nlines"}'],
      [6, '{"q":"=1+1","a b":"{}","c":""}'],
    ])
  })

  it('end in LF or CRLF, the last in nothing too, after a byte order mark or none', async () => {
    const wanted = ['{"a":"1","b":"x\\r\\n"}', '{"a":"2","b":"\\r"}']
    for (const end of ['\n', '\r\n']) {
      const file = `a,b${end}1,"x\r\n"${end}${end}2,"\r"`
      for (const text of [file, file + end, '\ufeff' + file, `a,b\r\n1,"x\r\n"\n2,"\r"\r\n`]) {
        expect(await textsOf(read(text)), JSON.stringify(text)).to.deep.equal(wanted)
      }
    }
    expect(await textsOf(read('a\n\ufeffb\n'))).to.deep.equal(['{"a":"\ufeffb"}'])
  })

  it('are none under a lonely header, and in a file without a header where that is meant', async () => {
    for (const file of ['a,b', 'a,b\n', '\n\na,b\r\n\r\n']) {
      expect(await textsOf(read(file)), JSON.stringify(file)).to.deep.equal([])
    }
    for (const file of ['', '\ufeff', '\n\r\n', 'sep=;', 'sep=;\n']) {
      expect((await refusalOf(read(file))).code, JSON.stringify(file)).to.equal('empty_file')
      expect(await textsOf(read(file, { allowEmpty: true })), JSON.stringify(file)).to.deep.equal([])
    }
  })

  it('of one column hold the empty string in quotes; a blank line is no row', async () => {
    expect((await rowsOf(read('a\n""\n\n""\r\n\r\nx\n""'))).map(({ line }) => line)).to.deep.equal([
      2, 4, 6, 7,
    ])
  })

  it('keep columns in order whatever they are called', async () => {
    const [row] = await rowsOf(read('b,10,__proto__,9,constructor\n1,2,3,4,5\n'))
    expect(row && keysOf(row.data)).to.deep.equal(['b', '10', '__proto__', '9', 'constructor'])
    expect(row && getKey(row.data, '__proto__')).to.equal('3')
  })

  it('take JSON text in metadata columns, and leave an empty one out', async () => {
    const file = '__id__,__flags__,__tags__,__meta__,a\nx,"{""b"":1.0}",,null,1\n,,[],{},\n'
    expect(await textsOf(read(file))).to.deep.equal([
      '{"__id__":"x","__flags__":{"b":1.0},"__meta__":null,"a":"1"}',
      '{"__id__":"","__tags__":[],"__meta__":{},"a":""}',
    ])
    expect(await refused('a,__tags__\r\n"1\r\n2",{x}\r\n')).to.deep.equal(['invalid_file', 3, 4])
    expect((await refusalOf(read('a,__tags__\n1,{x}\n'))).message).to.contain('column __tags__')
  })

  it('are values where asked to infer, and only exact ones', async () => {
    const values = [
      'true',
      'false',
      'null',
      '0',
      '-1',
      '1.50',
      '12345678901234567890',
      '1e5',
      '{}',
      '[1, {"b":null}]',
    ]
    const strings = [
      'True',
      ' 1',
      '1 ',
      '007',
      '+1',
      '.5',
      '1.',
      'NaN',
      '-',
      '{a}',
      '[sic]',
      '[1x]',
      '{"a"}',
      '[1',
      '{"a":1,"a":2}',
      '1,0',
      '',
    ]
    const cells = [...values, ...strings]
    const file = `v\n${cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join('\n')}\n`
    const rows = await rowsOf(read(file, { infer: true }))
    const printed = rows.map(({ data }) => stringifyJson(getKey(data, 'v')))
    expect(printed.slice(0, values.length)).to.deep.equal(values.map((cell) => cell.replaceAll(' ', '')))
    expect(printed.slice(values.length)).to.deep.equal(strings.map((cell) => JSON.stringify(cell)))
    expect(rows[6] && getKey(rows[6].data, 'v')).to.be.instanceOf(ExactNumber)
    expect(await textsOf(read(file))).to.deep.equal(cells.map((cell) => JSON.stringify({ v: cell })))
  })

  it('leave ids strings where asked to infer', async () => {
    const file = 'testcase_dedup_id,__dedup_id__,__id__,n\n12345678e901,746191763210,1,1\n'
    expect(await textsOf(read(file, { infer: true }))).to.deep.equal([
      '{"testcase_dedup_id":"12345678e901","__dedup_id__":"746191763210","__id__":"1","n":1}',
    ])
  })

  it('are refused in a few words, however long a name is', async () => {
    const long = '😀'.repeat(100_000)
    const { message } = await refusalOf(read(`${long},${long}\n`))
    expect(message)
      .to.have.length.below(1000)
      .and.to.match(/; rename one of them\.$/)
  })

  for (const [what, file, line, column] of [
    ['an unclosed quote', 'a,b\n1,"2\n3,4\n', 2, 3],
    ['an unclosed quote that ends with the file', 'a,b\n1,"', 2, 3],
    ['an unclosed quote after doubled ones', 'a\né,"x""', 2, 1 + 2],
    ['text after a closing quote', 'a,b\n1,"é"x\n', 2, 6],
    ['a space after a closing quote', 'a,b\n"1" ,2\n', 2, 4],
    ['a quote inside of a plain cell', 'a,b\n😀,5" disk\n', 2, 4],
    ['a quote after a space', 'a,b\n1, "2"\n', 2, 4],
    ['a lone carriage return', 'a,b\r1,2\r', 1, 4],
    ['a lone carriage return at the end', 'a,b\r\n1,2\r', 2, 4],
    ['a carriage return inside of a cell', 'a,b\n1\r2,3\n', 2, 2],
    ['a row that is too long', 'a,b\n\n1,2,3,4\n', 3, 5],
    ['a row that is too long, after a cell of two lines', 'a,b\n"1\n2",é,3\n', 3, 6],
    ['a row that is too short', 'a,b,c\n1,2\n3,4,5\n', 2, 4],
    ['a row that is too short, before its line end', 'a,b\r\n"1"\r\n2,3\r\n', 2, 4],
    ['a row that is too short at the end', 'a,b\n1', 2, 2],
    ['a header that repeats a name', 'a,"é",b,"é"\n', 1, 9],
    ['a header with an empty name', '\na,,b\n', 2, 3],
    ['a cell of a column without a name', 'a,b,\n1,2,\n1,2,3\n', 3, 5],
    ['a header without a name', ',,\n1,2,3\n', 1, 1],
    ['broken UTF-8', Buffer.from('a,b\n\u00e9,\xff\n', 'latin1'), 2, 1],
  ] as const) {
    it(`refuse ${what}, naming line and column`, async () => {
      expect(await refused(file)).to.deep.equal(['invalid_file', line, column])
    })
  }

  it('name both counts where they refuse a ragged row', async () => {
    expect((await refusalOf(read('a,b\n1,2,3,4\n'))).message).to.contain('4 cells and the header 2')
    expect((await refusalOf(read('a,b\n1\n'))).message).to.contain('1 cell and the header 2')
  })

  it('are bounded before anything grows, closed or not, the header too', async () => {
    const bounds = { maxRowBytes: 300_000, maxColumns: 1000 }
    expect(await refused('é'.repeat(10_000_000), bounds)).to.deep.equal(['limit_exceeded', 1, 1])
    expect(await refused(`a\n"${'x\n'.repeat(1_000_000)}`, bounds)).to.deep.equal(['limit_exceeded', 2, 1])
    expect((await refusalOf(read(`a\n"${'x'.repeat(1_000_000)}`, bounds))).message).to.contain(
      'line 2, column 1',
    )
    expect(await refused(','.repeat(1_000_000), bounds)).to.deep.equal(['limit_exceeded', 1, 1001])
    expect(await refused(`a\n${','.repeat(1_000_000)}`, bounds)).to.deep.equal(['invalid_file', 2, 1001])
    const small = { maxRowBytes: 5, maxColumns: 2 }
    expect(await textsOf(read('a,b\r\n12,é\n', small))).to.deep.equal(['{"a":"12","b":"é"}'])
    expect(await refused('a,b\n123,é\n', small)).to.deep.equal(['limit_exceeded', 2, 1])
    expect(await refused('a,b\n123,é', small)).to.deep.equal(['limit_exceeded', 2, 1])
    const many = { maxRowBytes: 2000, maxColumns: 2 }
    expect(await rowsOf(read(`a\n${`${'x'.repeat(1000)}\n`.repeat(1000)}`, many))).to.have.length(1000)
    expect(await refused('a,b,c\n', small)).to.deep.equal(['limit_exceeded', 1, 5])
  })

  it('do not take longer the longer a cell is that comes in many chunks', async () => {
    const file = `a,b\n1,"${'x'.repeat(5_000_000)}"\n`
    const [row] = await rowsOf(read(file))
    expect(row && getKey(row.data, 'b')).to.have.length(5_000_000)
  })

  it('are what the grammar of RFC 4180 says, and refused where it says nothing', async () => {
    const ours = async (file: string): Promise<unknown> => {
      const rows = await rowsOf(read(file)).catch((error: unknown) => error)
      return Array.isArray(rows)
        ? rows.map(({ data }: FileRow) => entriesOf(data).map(([, cell]) => cell))
        : undefined
    }
    await fc.assert(
      fc.asyncProperty(bodies, async (body) => {
        const file = `a,b\n${body}`
        expect(await ours(file), JSON.stringify(file)).to.deep.equal(reference(file)?.slice(1))
      }),
      { numRuns: 3000 },
    )
  })

  it('come out the same wherever the file is cut', async () => {
    await fc.assert(
      fc.asyncProperty(bodies, fc.nat(30), async (body, before) => {
        const file = (first: string): string => `a,b\n"${first}",\n${body}`
        const cut = await outcomeOf(read(file('x'.repeat(STRETCH - before))))
        const whole = await outcomeOf(read(file('x')))
        expect(JSON.stringify(cut).replace(/x+/, 'x')).to.equal(JSON.stringify(whole))
      }),
      { numRuns: 300 },
    )
    const body = '"1""2\r\n3",\r\n\r\n😀,4\r\n,\r\n5'
    for (let before = 0; before < 40; before++) {
      const file = `a,b\n"${'x'.repeat(STRETCH - before)}",\n${body}`
      expect((await rowsOf(read(file + ',6'))).slice(1), `${before} before`).to.deep.equal([
        { data: { a: '1"2\r\n3', b: '' }, line: 3 },
        { data: { a: '😀', b: '4' }, line: 6 },
        { data: { a: '', b: '' }, line: 7 },
        { data: { a: '5', b: '6' }, line: 8 },
      ])
      expect((await refusalOf(read(file))).data.details).to.deep.equal({ line: 8, column: 2 })
    }
    const long = 'x'.repeat(2 * STRETCH)
    expect(await textsOf(read(`a,${long}\r\n1,2`))).to.deep.equal([`{"a":"1","${long}":"2"}`])
  })

  it('that csvLine writes come back equal, strings as they are and other values where asked to infer', async () => {
    const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 4 })
    // Names lose what is not seen at their ends, and are composed; a lonely one that holds a delimiter is refused.
    const kept = name.filter(
      (text) => text === text.normalize('NFC') && !/^[\s\p{C}]|[\s\p{C}]$|[;|]/u.test(text),
    )
    const columns = fc.uniqueArray(kept, { minLength: 1, maxLength: 4 })
    const cell = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('', '"', '\r\n', '\ufeff', ',', ' x '),
    )
    const value = fc.oneof(
      fc.boolean(),
      fc.integer(),
      fc.constantFrom('text', '', '{', new ExactNumber('1.0')),
      fc.array(fc.integer()),
    )
    for (const [cells, infer] of [
      [cell, false],
      [value, true],
    ] as const) {
      const tables = columns.chain((names) =>
        fc.tuple(fc.constant(names), fc.array(fc.tuple(...names.map(() => cells)), { maxLength: 5 })),
      )
      await fc.assert(
        fc.asyncProperty(tables, async ([names, table]) => {
          const rows = table.map((row) => fromEntries(names.map((name, index) => [name, row[index] ?? ''])))
          const file = csvHeader(names) + rows.map((row) => csvLine(names, row)).join('')
          expect(await textsOf(read(file, { infer }))).to.deep.equal(rows.map((row) => stringifyJson(row)))
        }),
      )
    }
  })
})

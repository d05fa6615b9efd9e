import { expect } from 'chai'
import { stringifyJson } from '../../../../../src/base/json/stringify-json.ts'
import type { FileNotes } from '../../../../../src/registry/testsets/files/file-row.ts'
import { type XlsxOptions, xlsxRows } from '../../../../../src/registry/testsets/files/xlsx-rows.ts'
import { WIDE, chunksOf, refusalOf, rowsOf, textsOf } from '../../files/read-rows.ts'
import { type XlsxParts, xlsxFile, zipFile } from '../../../../support/values/xlsx-file.ts'

function read(file: Buffer, options: Partial<XlsxOptions> = {}): ReturnType<typeof xlsxRows> {
  return xlsxRows(chunksOf(file, 1000), {
    ...WIDE,
    ...{ infer: false, sheet: undefined, signal: undefined, notes: { columns: [], renamed: [] } },
    ...options,
  })
}

/** A file of one sheet: rows of cells, each the XML behind `<c r="A1"`. */
function sheetOf(rows: readonly (readonly string[])[], more: Partial<XlsxParts> = {}): Buffer {
  const letters = 'ABCDEFGHIJKLMNOP'
  const xml = rows.map(
    (cells, row) =>
      `<row r="${row + 1}">${cells.map((cell, at) => (cell === '' ? '' : `<c r="${letters[at]}${row + 1}"${cell}</c>`)).join('')}</row>`,
  )
  return xlsxFile({ sheets: [['Rows', xml.join('')]], ...more })
}

const text = (value: string): string => ` t="inlineStr"><is><t xml:space="preserve">${value}</t></is>`
const shared = (at: number): string => ` t="s"><v>${at}</v>`
const number = (value: string, style = 0): string => ` s="${style}"><v>${value}</v>`

describe('testset files: rows of a sheet', () => {
  // interface 8.23
  it('are texts as they are, numbers as JSON writes them, and what formulas came to, as texts or as they are', async () => {
    const file = sheetOf(
      [
        ['what', 'a', 'b', 'c', 'd', 'e'].map(text),
        [shared(0), number('5'), number('0.1'), number('1E+21'), ' t="b"><v>1</v>', shared(1)],
        [
          text(' 007 '),
          number('-3', 4),
          '><f>1+1</f><v>2</v>',
          ' t="str"><f>A1</f><v>what</v>',
          ' t="b"><v>0</v>',
          '',
        ],
        [
          text('&lt;é😀&gt;\n2'),
          number('0.30000000000000004'),
          ' t="e"><v>#N/A</v>',
          text(''),
          '',
          text('true'),
        ],
      ],
      { sharedStrings: ['<t>shared</t>', '<r><t>rich </t></r><r><t>text</t></r>'] },
    )
    expect(await textsOf(read(file, { infer: true }))).to.deep.equal([
      '{"what":"shared","a":5,"b":0.1,"c":1e+21,"d":true,"e":"rich text"}',
      '{"what":" 007 ","a":-3,"b":2,"c":"what","d":false,"e":""}',
      '{"what":"<é😀>\\n2","a":0.30000000000000004,"b":"#N/A","c":"","d":"","e":"true"}',
    ])
    expect(await textsOf(read(file))).to.deep.equal([
      '{"what":"shared","a":"5","b":"0.1","c":"1e+21","d":"true","e":"rich text"}',
      '{"what":" 007 ","a":"-3","b":"2","c":"what","d":"false","e":""}',
      '{"what":"<é😀>\\n2","a":"0.30000000000000004","b":"#N/A","c":"","d":"","e":"true"}',
    ])
  })

  // interface 8.23
  it('have dates without a zone, with a time where there is one, in both of the calendars', async () => {
    const dates = [
      text('d'),
      ...[
        number('46353', 1),
        number('46353.572916666664', 2),
        number('46353.57291666', 2),
        number('46353', 5),
      ],
      ...[number('0.572916666666667', 3), number('60', 1), number('61', 1), number('1', 1)],
    ]
    const expected = [
      ...['2026-11-27', '2026-11-27T13:45:00', '2026-11-27T13:45:00', '2026-11-27'],
      ...['13:45:00', '1900-02-28', '1900-03-01', '1900-01-01'],
    ]
    for (const infer of [false, true]) {
      const rows = await textsOf(read(sheetOf(dates.map((cell) => [cell])), { infer }))
      expect(rows).to.deep.equal(expected.map((date) => `{"d":"${date}"}`))
    }
    const mac = sheetOf([[text('d')], [number('44891', 1)]], { date1904: true })
    expect(await textsOf(read(mac))).to.deep.equal(['{"d":"2026-11-27"}'])
  })

  it('begin below the first row that holds something, by which the columns are called; empty rows are skipped', async () => {
    const notes: FileNotes = { columns: [], renamed: [] }
    const file = sheetOf([
      [],
      [text(' a '), text('b'), '', ''],
      [text('1')],
      ['', '', ''],
      ['', text('2'), '', text('')],
    ])
    const rows = await rowsOf(read(file, { notes }))
    expect(rows.map(({ data, line }) => [line, stringifyJson(data)])).to.deep.equal([
      [3, '{"a":"1","b":""}'],
      [5, '{"a":"","b":"2"}'],
    ])
    expect(notes).to.deep.equal({ columns: ['a', 'b'], renamed: [{ from: ' a ', to: 'a' }] })
  })

  // interface 8.23
  it('are those of the first sheet, or of one that is named, or else numbered', async () => {
    const cell = (value: string): string =>
      `<row r="1"><c r="A1"${text('n')}</c></row><row r="2"><c r="A2"${text(value)}</c></row>`
    const file = xlsxFile({
      sheets: [
        ['One', cell('one')],
        ['Zwei &amp; 3', cell('two')],
        ['1', cell('third')],
      ],
    })
    expect(await textsOf(read(file))).to.deep.equal(['{"n":"one"}'])
    expect(await textsOf(read(file, { sheet: 'Zwei & 3' }))).to.deep.equal(['{"n":"two"}'])
    expect(await textsOf(read(file, { sheet: '1' }))).to.deep.equal(['{"n":"third"}'])
    expect(await textsOf(read(file, { sheet: '2' }))).to.deep.equal(['{"n":"two"}'])
    const { code, message } = await refusalOf(read(file, { sheet: 'Four' }))
    expect([code, message]).to.deep.equal([
      'invalid_file',
      'The file has no sheet "Four"; it has "One", "Zwei & 3", "1".',
    ])
  })

  it('are refused where they are not sound, by row and column', async () => {
    for (const [rows, sentence] of [
      [[[text('a'), text('a')]], 'Line 1, column 2: The header names columns 1 and 2 both "a"'],
      [[[text('a'), '', text('b')]], 'Line 1, column 2: Column 2 of the header has no name'],
      [[[text('a')], [text('1'), text('2')]], 'Line 2, column 2: Column 2 has no name in the header'],
      [
        [
          [text('a'), text('__tags__')],
          [text('1'), text('{x')],
        ],
        'Line 2, column 2: The cell of column __tags__',
      ],
    ] as const) {
      const { code, message } = await refusalOf(read(sheetOf(rows)))
      expect(code).to.equal('invalid_file')
      expect(message).to.include(sentence)
    }
    expect((await refusalOf(read(sheetOf([])))).code).to.equal('empty_file')
    expect(await textsOf(read(sheetOf([]), { allowEmpty: true }))).to.deep.equal([])
    const tooLong = sheetOf([[text('a')], [text('x'.repeat(2000))]])
    expect((await refusalOf(read(tooLong, { maxRowBytes: 1000 }))).message).to.include('Line 2, column 1: ')
  })

  it('are refused where the file is damaged, or is another archive', async () => {
    const good = sheetOf([[text('a')], [text('1')]])
    const broken = Buffer.from(good)
    broken.fill(0, 60, 90)
    for (const [file, sentence] of [
      [good.subarray(0, 500), /cannot be read \(it is cut off\)/],
      [broken, /cannot be read/],
      [zipFile({ 'rows.csv': 'a' }), /\.zip archive/],
      [zipFile({ '[Content_Types].xml': '', 'xl/workbook.bin': '' }), /\.xlsb/],
      [zipFile({ '[Content_Types].xml': '<Types/>', 'xl/workbook.xml': '<workbook/>' }), /cannot be read/],
      [
        xlsxFile({
          sheets: [['S', '<row><c><v>&x;</v></c></row>']],
          more: { 'xl/workbook.xml': '<!DOCTYPE x [<!ENTITY x "y">]><workbook>&x;</workbook>' },
        }),
        /./,
      ],
    ] as const) {
      const { code, message } = await refusalOf(read(file))
      expect(code, message).to.be.oneOf(['invalid_file', 'empty_file'])
      expect(message).to.match(sentence)
    }
  })

  // interface 8.23
  it('are 413 past 64 MiB unpacked, past ten million cells, and where memory does not hold them', async function () {
    this.timeout(300_000)
    const bomb = Buffer.alloc(65 * 1024 * 1024, 0x20)
    const sheet = '<row r="1"><c r="A1" t="inlineStr"><is><t>a</t></is></c></row>'
    const long = xlsxFile({ sheets: [['S', sheet + bomb.toString('latin1')]] })
    const wide = Array.from(
      { length: 700 },
      (_, at) => `<row r="${at + 2}"><c r="XFD${at + 2}" t="inlineStr"><is><t></t></is></c></row>`,
    )
    for (const file of [
      xlsxFile({ sheets: [['S', sheet]], more: { 'xl/media/big.bin': bomb } }),
      xlsxFile({ sheets: [['S', sheet + wide.join('')]] }),
      long,
      sayingLittle(long),
    ]) {
      expect(file.length).to.be.below(2 * 1024 * 1024)
      const { code, message } = await refusalOf(read(file))
      expect([code, message.slice(0, 40)]).to.deep.equal([
        'limit_exceeded',
        'An .xlsx file may hold at most 67108864 ',
      ])
    }
    const tooLong = read(Buffer.concat([Buffer.from('PK\x03\x04'), bomb]))
    expect((await refusalOf(tooLong)).code).to.equal('limit_exceeded')
  })

  it('end when nobody waits for them any more', async () => {
    const many = Array.from({ length: 20_000 }, (_, at) => [text(at === 0 ? 'n' : `row ${at}`)])
    const stop = new AbortController()
    const rows = read(sheetOf(many), { signal: stop.signal })
    await rows.next()
    stop.abort(new Error('gone'))
    let error: unknown
    try {
      for await (const batch of rows) expect(batch.length).to.be.below(20_000)
    } catch (thrown) {
      error = thrown
    }
    expect(error).to.equal(stop.signal.reason)
    // The thread is free again: as many as there are have a file read.
    for (const _ of [1, 2, 3]) expect(await rowsOf(read(sheetOf(many)))).to.have.lengthOf(19_999)
  })
})

/** The same archive, in whose directory every part claims to unpack to ten bytes. */
function sayingLittle(file: Buffer): Buffer {
  const lying = Buffer.from(file)
  for (let at = lying.indexOf('PK\x01\x02'); at !== -1; at = lying.indexOf('PK\x01\x02', at + 1))
    lying.writeUInt32LE(10, at + 24)
  return lying
}

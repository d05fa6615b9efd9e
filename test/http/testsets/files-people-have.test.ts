import { expect } from 'chai'
import { gzipSync } from 'node:zlib'
import { ADMIN_KEY } from '../../support/servers/service.ts'
import { stringifyJson } from '../../../src/base/json/stringify-json.ts'
import { parseJson } from '../../../src/base/json/parse-json.ts'
import { zipFile } from '../../support/values/xlsx-file.ts'
import { contentsOf, refusal, startTestsets, type TestsetClient } from './testset-client.ts'

describe('testsets: files that people have', () => {
  let client: TestsetClient
  before(async () => (client = await startTestsets({ env: { UPLOAD_MAX_BYTES: '200000' } })))
  after(() => client.stop())

  /** The rows of a file's testset, without their dedup ids. */
  const rowsOf = async (
    file: string | Buffer,
    fields: Readonly<Record<string, string>> = {},
  ): Promise<unknown[]> => client.contents(await client.makeOf(file, fields))
  const refused = async (file: string | Buffer, fields: Readonly<Record<string, string>> = {}) =>
    refusal(await client.send('/simple/testsets/upload', file, { fields }))
  const uploaded = async (
    path: string,
    file: string | Buffer,
    fields: Readonly<Record<string, string>> = {},
  ) => {
    const { status, body, text } = await client.send(path, file, { fields })
    expect(status, text).to.equal(200)
    return body
  }

  describe('that hold nothing', () => {
    for (const [type, files] of [
      ['csv', ['', '\ufeff', '\n\n', 'sep=;\n']],
      ['json', ['', ' \n']],
      ['jsonl', ['', '\n\n']],
      ['xlsx', ['']],
    ] as const) {
      // interface 8.25
      it(`are 422 empty_file as ${type} and store nothing, unless allow_empty says that it is meant`, async () => {
        const { revisionId, ...testset } = await client.make([{ a: 1 }])
        for (const file of [...files, gzipSync('')]) {
          const wanted = { file_type: type }
          for (const path of [
            `/testsets/revisions/${revisionId}/upload`,
            `/simple/testsets/${testset.id}/upload`,
          ]) {
            const reply = await client.send(path, file, { fields: wanted })
            expect(refusal(reply)).to.match(/^422 empty_file: .* allow_empty=true/)
          }
          expect(await client.contents({ revisionId, ...testset })).to.deep.equal([{ a: 1 }])
          const fields = { ...wanted, allow_empty: 'true' }
          expect(
            contentsOf(await client.replaceBy((await client.make([{ a: 1 }])).revisionId, file, fields)),
          ).to.deep.equal([])
        }
      })
    }

    it('are so as the body itself, too', async () => {
      const send = (query: string) =>
        fetch(`${client.service.url}/simple/testsets/upload${query}`, {
          method: 'POST',
          body: '',
          headers: { authorization: `ApiKey ${ADMIN_KEY}`, 'content-type': 'text/csv' },
        })
      expect(((await (await send('')).json()) as any).code).to.equal('empty_file')
      expect((await send('?allow_empty=true')).status).to.equal(200)
    })

    // interface 8.25
    it('an empty JSON array and a header are rows that are none', async () => {
      expect(await rowsOf('[]', { file_type: 'json' })).to.deep.equal([])
      expect(await rowsOf('question,answer\n')).to.deep.equal([])
    })
  })

  describe('in CSV', () => {
    const SEMICOLONS = 'question;answer\nWhere, please?;"under; the mat"\n'
    const WANTED = [{ question: 'Where, please?', answer: 'under; the mat' }]

    // interface 8.21
    it('have their cells separated by what the header shows: semicolons, tabs or bars', async () => {
      expect(await rowsOf(SEMICOLONS)).to.deep.equal(WANTED)
      for (const delimiter of ['\t', '|'])
        expect(await rowsOf(SEMICOLONS.replaceAll(';', delimiter))).to.deep.equal([
          { question: 'Where, please?', answer: `under${delimiter} the mat` },
        ])
      expect(await rowsOf('"a,b";c\r\n1;2\r\n')).to.deep.equal([{ 'a,b': '1', c: '2' }])
      expect(await rowsOf('a;b,c\n1;2,3\n')).to.deep.equal([{ 'a;b': '1;2', c: '3' }])
      expect(await rowsOf(`a;b\n${'1;2\n'.repeat(5000)}`)).to.deep.equal([{ a: '1', b: '2' }])
    })

    // interface 8.21
    it('have them separated so, too, where a name or a cell in quotes is longer than what is looked at', async () => {
      const name = 'a|name '.repeat(2000).trim()
      expect(await rowsOf(`"${name}";b|c;d\n1;2;3\n`)).to.deep.equal([{ [name]: '1', 'b|c': '2', d: '3' }])
      expect(await rowsOf(`"${name}";b\n1;2\n`)).to.deep.equal([{ [name]: '1', b: '2' }])
      const lines = 'a line\n'.repeat(2000).trim()
      expect(await rowsOf(`a;b\n"${lines}";2\n`)).to.deep.equal([{ a: lines, b: '2' }])
      const names = Array.from({ length: 3000 }, (_, at) => `n${at}`)
      expect(await rowsOf(`${names.join(';')}\n${names.join(';')}\n`)).to.deep.equal([
        Object.fromEntries(names.map((it) => [it, it])),
      ])
    })

    // interface 8.21
    it('have them separated by what a line sep= says, which is no row', async () => {
      expect(await rowsOf(`sep=;\r\n${SEMICOLONS}`)).to.deep.equal(WANTED)
      expect(await rowsOf('SEP=^\na^b\n1^2\n')).to.deep.equal([{ a: '1', b: '2' }])
      for (const line of ['"sep=;"', '"SEP=;"'])
        expect(await rowsOf(`${line}\r\n${SEMICOLONS}`), line).to.deep.equal(WANTED)
      expect(await rowsOf('"sep=|";b\n1;2\n')).to.deep.equal([{ 'sep=|': '1', b: '2' }])
      expect(await rowsOf('"sep="\n1\n')).to.deep.equal([{ 'sep=': '1' }])
      expect(await rowsOf('sep=,\na;b\n1;2\n')).to.deep.equal([{ 'a;b': '1;2' }])
      expect(await refused('sep=;;\na;b\n1;2\n')).to.match(
        /^422 invalid_file: Line 1, column 1: The line sep= names ";;"/,
      )
      expect(await refused('sep=;\na;b\n1;2;3\n')).to.include(
        '422 invalid_file: Line 3, column 5: The row has 3 cells',
      )
    })

    // interface 8.21
    it('have them separated by what delimiter= says, whatever the file looks like', async () => {
      expect(await rowsOf(SEMICOLONS, { delimiter: ';' })).to.deep.equal(WANTED)
      expect(await rowsOf('sep=;\na,b;c\n1,2;3\n', { delimiter: ',' })).to.deep.equal([
        { a: '1', 'b;c': '2;3' },
      ])
      for (const delimiter of ['x', 'y', '😀', ' ', '\\'])
        expect(await rowsOf(`a${delimiter}b\n1${delimiter}"2${delimiter}"\n`, { delimiter })).to.deep.equal([
          { a: '1', b: `2${delimiter}` },
        ])
      for (const delimiter of [';;', '"', '\r', '\n', '\ufeff'])
        expect(await refused('a\n1\n', { delimiter }), JSON.stringify(delimiter)).to.match(
          /^422 invalid_request: .*delimiter/,
        )
      expect(await refused('[]', { delimiter: ';', file_type: 'json' })).to.match(
        /^422 invalid_file: .*delimiter/,
      )
    })

    // interface 8.21
    it('are refused where the header would be one column and holds a delimiter', async () => {
      for (const [file, shown] of [
        ['question;answer\nWhere?\nThere.\n', '";"'],
        ['question\tanswer\nWhere?\n', 'a tab'],
        ['"a|b"\n1\n', '"|"'],
      ] as const)
        expect(await refused(file))
          .to.match(/^422 invalid_file: Line 1, column 1: The header is one column/)
          .and.include(shown)
      expect(await rowsOf('a;b\n1\n', { delimiter: ',' })).to.deep.equal([{ 'a;b': '1' }])
    })

    // interface 8.22
    it('lose what is not seen at the ends of names, and the answer lists the names that changed', async () => {
      const body = await uploaded(
        '/simple/testsets/upload',
        'col1, col2,\u00a0col3\u200b,na\u0069\u0308ve,__dedup_id__ \n1, 2,3,4,x\n',
      )
      expect(body.renamed_columns).to.deep.equal([
        { from: ' col2', to: 'col2' },
        { from: '\u00a0col3\u200b', to: 'col3' },
        { from: 'nai\u0308ve', to: 'na\u00efve' },
        { from: '__dedup_id__ ', to: '__dedup_id__' },
      ])
      expect(body.testset.data.testcases[0].data).to.deep.equal({
        ...{ col1: '1', col2: ' 2', col3: '3', 'na\u00efve': '4', testcase_dedup_id: 'x' },
      })
      expect(await uploaded('/simple/testsets/upload', 'a,b\n1,2\n')).to.not.have.property('renamed_columns')
      expect(await refused('a, a\n1,2\n')).to.include('The header names columns 1 and 2 both "a"')
    })

    // interface 8.22
    it('lose columns at the end without a name, whose cells are all empty', async () => {
      expect(await rowsOf('a,b,\n1,2,\n3,4,""\n')).to.deep.equal([
        { a: '1', b: '2' },
        { a: '3', b: '4' },
      ])
      expect(await rowsOf('a;b;;\n1;2;;\n')).to.deep.equal([{ a: '1', b: '2' }])
      expect(await refused('a,b,\n1,2,\n3,4,5\n')).to.match(
        /^422 invalid_file: Line 3, column 5: Column 3 has no name/,
      )
      expect(await refused('a,,b\n1,,2\n')).to.match(
        /^422 invalid_file: Line 1, column 3: Column 2 of the header has no name/,
      )
    })
  })

  describe('in other encodings', () => {
    const TEXT = 'question,answer\r\nGrüße 😀?,"a\r\nb"\r\n'
    const WANTED = [{ question: 'Grüße 😀?', answer: 'a\r\nb' }]
    const utf16 = (text: string): Buffer => Buffer.from(text, 'utf16le')

    // interface 8.22
    it('are read in UTF-16 with its byte order mark, whichever byte comes first', async () => {
      for (const [text, type] of [
        [TEXT, 'csv'],
        [JSON.stringify(WANTED), 'json'],
        [`${JSON.stringify(WANTED[0])}\n`, 'jsonl'],
      ] as const) {
        const bytes = utf16(`\ufeff${text}`)
        expect(await rowsOf(bytes, { file_type: type })).to.deep.equal(WANTED)
        expect(await rowsOf(Buffer.from(bytes).swap16(), { file_type: type })).to.deep.equal(WANTED)
      }
      const long = `q,a\n${Array.from({ length: 5000 }, (_, n) => `${n},😀\n`).join('')}`
      expect(await rowsOf(utf16(`\ufeff${long}`))).to.have.lengthOf(5000)
    })

    // interface 8.22
    it('are refused by name in UTF-16 without a mark, and in UTF-32', async () => {
      expect(await refused(utf16(TEXT))).to.match(/^422 invalid_file: .*UTF-16 without a byte order mark/)
      expect(await refused(utf16(TEXT).swap16())).to.match(
        /^422 invalid_file: .*UTF-16 without a byte order mark/,
      )
      expect(await refused(utf16('質問,答え\n何ですか,上\n'))).to.match(/UTF-16 without a byte order mark/)
      expect(await refused(Buffer.from([0xff, 0xfe, 0, 0, 0x61, 0, 0, 0]))).to.match(
        /^422 invalid_file: .*UTF-32/,
      )
    })

    // interface 8.17
    it('are read compressed with gzip, known by its bytes, in as many members as there are, up to the limit of a file', async () => {
      expect(await rowsOf(gzipSync(TEXT))).to.deep.equal(WANTED)
      expect(await rowsOf(Buffer.concat([gzipSync('a\n1\n'), gzipSync('2\n')]))).to.deep.equal([
        { a: '1' },
        { a: '2' },
      ])
      expect(await rowsOf(gzipSync(utf16(`\ufeff${TEXT}`)))).to.deep.equal(WANTED)
      expect(await rowsOf(gzipSync('[{"a":1}]'), { file_type: 'json' })).to.deep.equal([{ a: 1 }])
      const cut = gzipSync(Array.from({ length: 1000 }, (_, n) => `${n * 7919}\n`).join('')).subarray(0, 900)
      expect(await refused(cut)).to.match(/^422 invalid_file: The file does not decompress/)
      expect(await refused(gzipSync(gzipSync(TEXT)))).to.match(/^422 invalid_file: .*gzip twice/)
      const bomb = gzipSync(`a\n${'1\n'.repeat(500_000)}`)
      expect(bomb.length).to.be.below(10_000)
      expect(await refused(bomb)).to.match(/^413 limit_exceeded: The file unpacks to more than 200000 bytes/)
    })

    it('are of the type that their name says before .gz', async () => {
      for (const [text, name] of [
        ['{"a":1}\n', 'rows.jsonl.gz'],
        ['[{"a":1}]', 'rows.json.gz'],
        ['a\tb\n1\t2\n', 'rows.tsv.gz'],
      ] as const) {
        const form = new FormData()
        form.set('file', new Blob([gzipSync(text)], { type: 'application/gzip' }), name)
        const { body, text: answer } = await client.service.post('/simple/testsets/upload', form)
        expect(contentsOf(body.testset), answer).to.deep.equal([
          name.includes('tsv') ? { a: '1', b: '2' } : { a: 1 },
        ])
      }
    })
  })

  describe('in other formats', () => {
    for (const [what, file, said] of [
      ['HTML', '<html>\n<body>502 Bad Gateway</body>\n</html>\n', /HTML/],
      ['HTML with a document type', '\ufeff\n<!DOCTYPE html>\n<p>Sign in</p>', /HTML/],
      ['XML', '<?xml version="1.0"?><Error/>', /XML/],
      ['a PDF', '%PDF-1.7\n%\u00e2\u00e3', /PDF/],
      ['Parquet', Buffer.from([0x50, 0x41, 0x52, 0x31, 0x15, 0x04]), /Parquet/],
      ['a zip archive', zipFile({ 'rows.csv': 'a\n1\n' }), /\.zip archive; unpack it/],
      ['an empty zip archive', zipFile({}), /\.zip archive/],
      ['an OpenDocument table', zipFile({ mimetype: 'x', 'content.xml': '' }), /\.zip archive/],
      ['a Word document', zipFile({ '[Content_Types].xml': '', 'word/document.xml': '' }), /Word/],
      ['an old Excel file', Buffer.from('d0cf11e0a1b11ae1', 'hex'), /\.xls/],
      ['zstd', Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0]), /zstd/],
    ] as const) {
      // interface 8.17
      it(`are refused by name: ${what}`, async () => {
        for (const type of ['csv', 'json', 'jsonl'])
          expect(await refused(file, { file_type: type }))
            .to.match(/^422 invalid_file: The file is /)
            .and.match(said)
        expect(await refused(gzipSync(file))).to.match(said)
      })
    }

    it('are not taken for these where they only begin alike', async () => {
      expect(await rowsOf('PAR1,PK\n1,2\n')).to.deep.equal([{ PAR1: '1', PK: '2' }])
      expect(await rowsOf('PAR1\n1\n')).to.deep.equal([{ PAR1: '1' }])
      expect(await rowsOf('<b>,htmlx\n1,2\n')).to.deep.equal([{ '<b>': '1', htmlx: '2' }])
    })
  })

  describe('whose rows meet', () => {
    const EQUAL = 'a,b\n1,2\n1,2\n3,4\n'
    const SAME_ID = 'a,__dedup_id__\n1,x\n2,x\n3,y\n'

    // interface 8.4
    it('are told how many were equal, and how many gave way to one of their dedup id', async () => {
      for (const [file, met, rows] of [
        [EQUAL, { collapsed: 1, replaced: 0 }, 2],
        [SAME_ID, { collapsed: 0, replaced: 1 }, 2],
        ['a,__dedup_id__\n1,x\n1,x\n1,\n2,\n', { collapsed: 2, replaced: 0 }, 2],
        ['a\n1\n', { collapsed: 0, replaced: 0 }, 1],
      ] as const) {
        const made = await uploaded('/simple/testsets/upload', file)
        expect(made).to.deep.include(met)
        const { id, revision_id: revision } = made.testset
        const words = [
          met.collapsed > 0 && `${met.collapsed} collapsed`,
          met.replaced > 0 && `${met.replaced} replaced`,
        ]
        const told = words.filter((word) => word !== false).join(', ')
        const subjectOf = async (): Promise<string> => (await client.latest({ id } as any)).subject
        expect(await subjectOf()).to.equal(
          `First revision: ${rows} row${rows === 1 ? '' : 's'}${told && ` (${told})`}`,
        )
        expect(await uploaded(`/testsets/revisions/${revision}/upload`, file)).to.deep.include(met)
        expect(await subjectOf()).to.equal(`Change nothing${told && ` (${told})`}`)
        expect(
          await uploaded(
            `/simple/testsets/${id}/upload`,
            `${file}9${',9'.repeat(file.split('\n')[0]!.split(',').length - 1)}\n`,
          ),
        ).to.deep.include(met)
        expect(await subjectOf()).to.equal(`Add 1 row${told && ` (${told})`}`)
      }
    })

    it('are told so again when the upload is repeated under its Idempotency-Key', async () => {
      const headers = { 'idempotency-key': 'meet-twice' }
      const send = () => client.send('/simple/testsets/upload', `${EQUAL.replace('b', 'b ')}`, { headers })
      const first = await send()
      const again = await send()
      expect(first.body).to.deep.include({
        collapsed: 1,
        replaced: 0,
        renamed_columns: [{ from: 'b ', to: 'b' }],
      })
      expect(again.body).to.deep.equal(first.body)
    })
  })

  describe('that were downloaded', () => {
    const ROWS =
      '{"q":"zero","n":0,"big":12345678901234567890,"ok":true,"ctx":["a",0],"none":null,"text":"5"}\n' +
      '{"q":"one","n":1.0,"ok":false,"ctx":{"b":1},"extra":"=1+1"}\n'
    const jsonOf = async (revisionId: string): Promise<string[]> =>
      (await client.download(revisionId, 'file_type=jsonl'))
        .trimEnd()
        .split('\n')
        .map((line) => line.replace(/,"__id__".*/, '}'))

    for (const types of ['string', 'infer']) {
      // interface 8.20
      it(`keep the values and types of all cells that were not edited, with types=${types}`, async () => {
        const testset = await client.makeOf(ROWS, { file_type: 'jsonl' })
        const before = await jsonOf(testset.revisionId)
        const csv = await client.download(testset.revisionId)
        const same = await client.replaceBy(testset.revisionId, csv, { types })
        expect(same.data.testcase_ids).to.deep.equal(testset.ids)
        const edited = await client.replaceBy(same.id, csv.replace('zero', 'edited'), { types })
        expect(await jsonOf(edited.id)).to.deep.equal([before[0]!.replace('zero', 'edited'), before[1]])
        const number = await client.replaceBy(edited.id, csv.replace('zero,0,', 'zero,7,'), { types })
        const changed = types === 'infer' ? '"n":7' : '"n":"7"'
        expect((await jsonOf(number.id))[0]).to.equal(before[0]!.replace('"n":0', changed))
      })
    }

    it('join on dedup ids wherever the rows stand, past rows that are new, and of more rows than are read at once', async () => {
      const lines = Array.from({ length: 3000 }, (_, n) => `{"n":${n},"ok":${n % 2 === 0}}\n`)
      const testset = await client.makeOf(lines.join(''), { file_type: 'jsonl' })
      const [header, ...rows] = (await client.download(testset.revisionId)).trimEnd().split('\r\n')
      const shuffled = rows
        .toReversed()
        .flatMap((row, at) => (at % 1000 === 500 ? [`new${at},x,,`, row] : [row]))
      const next = await client.replaceBy(testset.revisionId, [header, ...shuffled].join('\r\n'))
      const data = contentsOf(next) as { n: unknown; ok: unknown }[]
      expect(data).to.have.lengthOf(3003)
      expect(data.filter(({ n }) => typeof n === 'number')).to.deep.equal(
        lines.map((line) => JSON.parse(line)).reverse(),
      )
      expect(data.filter(({ n }) => typeof n === 'string')).to.have.lengthOf(3)
    })

    it('keep what a spreadsheet would run, where it was made harmless for the spreadsheet', async () => {
      const testset = await client.make([{ q: 'first', sum: '=1+1', list: '-a', n: -5 }])
      const csv = await client.download(testset.revisionId, 'escape_formulas=true')
      expect(csv).to.include("'=1+1,'-a,-5")
      const next = await client.replaceBy(testset.revisionId, csv.replace('first', 'edited'))
      expect(contentsOf(next)).to.deep.equal([{ q: 'edited', sum: '=1+1', list: '-a', n: -5 }])
    })

    it('leave text alone that only looks like what is stored elsewhere', async () => {
      const testset = await client.make([{ a: 1 }, { a: '1', b: 2 }])
      expect(
        await client.contents(await client.makeOf(await client.download(testset.revisionId))),
      ).to.deep.equal([
        { a: '1', b: '' },
        { a: '1', b: '2' },
      ])
    })

    // interface 8.26
    it('begin with a byte order mark where bom=true says so, and come back with it', async () => {
      const testset = await client.make([{ q: 'Grüße', n: 1 }])
      const file = await fetch(
        `${client.service.url}/testsets/revisions/${testset.revisionId}/download?bom=true`,
        { headers: { authorization: `ApiKey ${ADMIN_KEY}` } },
      )
      const bytes = Buffer.from(await file.arrayBuffer())
      expect([...bytes.subarray(0, 4)]).to.deep.equal([0xef, 0xbb, 0xbf, 'q'.charCodeAt(0)])
      expect((await client.replaceBy(testset.revisionId, bytes)).data.testcase_ids).to.deep.equal(testset.ids)
      const wrong = await client.service.get(
        `/simple/testsets/${testset.id}/download?bom=true&file_type=json`,
      )
      expect(refusal(wrong)).to.match(/^422 invalid_request: .*bom/)
    })

    it('are called by their slug, or by file_name, with their ending once', async () => {
      const { id, slug, revisionId } = await client.make([{ a: 1 }])
      const nameOf = async (path: string): Promise<string> =>
        /filename="(.*?)"/.exec(
          (await client.service.get(path)).headers.get('content-disposition') ?? '',
        )?.[1] ?? ''
      expect(await nameOf(`/simple/testsets/${id}/download`)).to.equal(`${slug}.csv`)
      expect(await nameOf(`/testsets/revisions/${revisionId}/download?file_type=jsonl`)).to.equal(
        `${slug}-1.jsonl`,
      )
      expect(await nameOf(`/simple/testsets/${id}/download?file_name=rows.csv`)).to.equal('rows.csv')
      expect(await nameOf(`/simple/testsets/${id}/download?file_name=Rows.CSV`)).to.equal('Rows.CSV')
      expect(await nameOf(`/simple/testsets/${id}/download?file_name=rows`)).to.equal('rows.csv')
      expect(await nameOf(`/simple/testsets/${id}/download?file_name=rows.csv&file_type=json`)).to.equal(
        'rows.csv.json',
      )
    })
  })

  it('numbers stay digit for digit through it all', async () => {
    const line = '{"n":1.50,"big":123456789012345678901234567890}'
    const testset = await client.makeOf(`${line}\n`, { file_type: 'jsonl' })
    const next = await client.replaceBy(testset.revisionId, await client.download(testset.revisionId))
    const again = parseJson(await client.download(next.id, 'file_type=json'))
    expect(stringifyJson(again)).to.include('"n":1.50,"big":123456789012345678901234567890')
  })
})

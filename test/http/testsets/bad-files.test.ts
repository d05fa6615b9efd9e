import { expect } from 'chai'
import { gzipSync } from 'node:zlib'
import { ADMIN_KEY } from '../../support/servers/service.ts'
import { settledFiles, storeFiles } from './store-files.ts'
import { type MadeTestset, refusal, startTestsets, type TestsetClient } from './testset-client.ts'

/** Enough good rows before the bad one that some have been written when it comes. */
const GOOD = 3000

const csv = (bad: string): string => `a,b\n${rows((n) => `${n},x`)}${bad}`
const lines = (bad: string): string => `${rows((n) => `{"n":${n}}`)}${bad}`
const json = (bad: string): string => `[\n${rows((n) => `{"n":${n}},`)}${bad}`

function rows(row: (n: number) => string): string {
  return Array.from({ length: GOOD }, (_, n) => `${row(n)}\n`).join('')
}

/** What is wrong, the type and bytes of the file, and where the refusal says it is. */
const BAD: readonly (readonly [string, string, string | Buffer, string])[] = [
  [
    'broken UTF-8 in csv',
    'csv',
    Buffer.concat([Buffer.from(csv('ab,c')), Buffer.from([0xff, 0x0a])]),
    'Line 3002, column 5',
  ],
  [
    'broken UTF-8 in json',
    'json',
    Buffer.concat([Buffer.from(json('{"é')), Buffer.from([0xc3, 0x28])]),
    'Line 3002, column 4',
  ],
  [
    'a character that is cut off',
    'jsonl',
    Buffer.concat([Buffer.from(lines('{"')), Buffer.from([0xf0, 0x9f])]),
    'Line 3001, column 3',
  ],
  ['half a character of UTF-16', 'csv', Buffer.from('\ufeffa,b\nx,\ud800\n', 'utf16le'), 'Line 2, column 3'],
  ['an unclosed quote', 'csv', csv('1,"never closed\n1,2\n'), 'Line 3002, column 3'],
  ['text behind a closing quote', 'csv', csv('"1"x,2\n'), 'Line 3002, column 4'],
  ['a quote inside a plain cell', 'csv', csv('1"2,3\n'), 'Line 3002, column 2'],
  ['a row too short', 'csv', csv('1\n'), 'Line 3002, column 2'],
  ['a row too long', 'csv', csv('1,2,3\n'), 'Line 3002, column 5'],
  ['a lone carriage return', 'csv', csv('1,2\r3,4\n'), 'Line 3002, column 4'],
  ['a header twice', 'csv', 'a,b,a\n1,2,3\n', 'Line 1, column 5'],
  ['an empty header', 'csv', 'a,,b\n1,2,3\n', 'Line 1, column 3'],
  ['a __tags__ cell that is no JSON', 'csv', 'a,__tags__\n1,\n2,{x}\n', 'Line 3, column 3'],
  ['a __tags__ cell that is no object', 'csv', 'a,__tags__\n1,\n2,[1]\n', 'Line 3, column 1'],
  ['no array', 'json', '{"a": 1}', 'Line 1, column 1'],
  ['JSON lines as json', 'json', '{"a":1}\n{"a":2}\n', 'Line 1, column 1'],
  ['an element that is no object', 'json', json('5]'), 'Line 3002, column 1'],
  ['NaN', 'json', json('{"a": NaN}]'), 'Line 3002, column 7'],
  ['NaN in a line', 'jsonl', lines('{"a": NaN}\n'), 'Line 3001, column 7'],
  ['a key twice', 'json', json('{"a": 1, "a": 2}]'), 'Line 3002, column 10'],
  ['a lone surrogate', 'jsonl', lines('{"a": "\\ud800"}\n'), 'Line 3001, column 7'],
  ['a file that ends in a row', 'json', json('{"a": '), 'Line 3002, column 1'],
  ['an array that is never closed', 'json', json('{"a": 1}'), 'Line 3002, column 9'],
  ['something behind the array', 'json', '[]\n[]', 'Line 2, column 1'],
  ['a line that is no object', 'jsonl', lines('[1]\n'), 'Line 3001, column 1'],
  ['too deep', 'jsonl', lines(`{"a":${'['.repeat(2000)}${']'.repeat(2000)}}\n`), 'Line 3001, column '],
]

describe('testsets: bad files', () => {
  let client: TestsetClient
  let testset: MadeTestset
  let bare: string
  before(async () => {
    client = await startTestsets()
    testset = await client.make([{ n: 'here' }])
    bare = (await client.service.post('/testsets/', { testset: { slug: 'bare' } })).body.testset.id
  })
  after(() => client.stop())

  for (const [what, type, file, place] of BAD) {
    // interface 8.16, 2.32
    it(`${what} is refused at ${place}; nothing is stored, by any upload`, async () => {
      const before = await settledFiles(client.service.storeDir)
      const fields = { file_type: type }
      for (const [path, more] of [
        ['/simple/testsets/upload', { testset_slug: 'wanted' }],
        [`/simple/testsets/${testset.id}/upload`, { testset_name: 'Renamed' }],
        [`/simple/testsets/${bare}/upload`, {}],
        [`/testsets/revisions/${testset.revisionId}/upload`, {}],
      ] as const) {
        const reply = await client.send(path, file, { fields: { ...fields, ...more } })
        expect(refusal(reply), path).to.include(`422 invalid_file: ${place}`)
        const { line, column } = reply.body.details
        expect(`Line ${line}, column ${column}`).to.include(place)
        expect(storeFiles(client.service.storeDir)).to.deep.equal(before)
      }
    })
  }

  it('a large file that is bad at its end leaves nothing of what was written until then', async () => {
    const many = Array.from({ length: 40_000 }, (_, n) => `${n},${(n * 7919) % 104_729}\n`).join('')
    const before = await settledFiles(client.service.storeDir)
    for (const path of ['/simple/testsets/upload', `/testsets/revisions/${testset.revisionId}/upload`]) {
      const reply = await client.send(path, `a,b\n${many}1\n`)
      expect(refusal(reply)).to.include('422 invalid_file: Line 40002, column 2')
      expect(storeFiles(client.service.storeDir)).to.deep.equal(before)
    }
  })

  it('a slug that a bad file asked for is free afterwards', async () => {
    const wanted = { testset_slug: 'after-all' }
    expect((await client.send('/simple/testsets/upload', 'a,a\n', { fields: wanted })).status).to.equal(422)
    const { body } = await client.service.post('/testsets/query', { testset: { slug: 'after-all' } })
    expect(body.count).to.equal(0)
    expect((await client.makeOf('a\n1\n', wanted)).slug).to.equal('after-all')
  })

  it('a taken slug, a bad slug and an unknown field are refused, however good the file', async () => {
    const before = await settledFiles(client.service.storeDir)
    const send = (fields: Record<string, string>) =>
      client.send('/simple/testsets/upload', 'a\n1\n', { fields })
    expect(refusal(await send({ testset_slug: testset.slug }))).to.match(/^409 slug_taken/)
    for (const [name, value] of [
      ['testset_slug', 'a b'],
      ['testset_tags', '{x}'],
      ['testset_tags', '[1]'],
      ['testset_meta', '5'],
      ['file_type', 'xml'],
      ['types', 'guess'],
      ['include_testcases', 'yes'],
    ] as const) {
      const reply = await send({ [name]: value })
      expect(reply.status, reply.text).to.equal(422)
      expect(reply.body.detail).to.include(name)
    }
    expect(storeFiles(client.service.storeDir)).to.deep.equal(before)
  })

  it('empty texts about the testset are as good as absent', async () => {
    const fields = {
      ...{ testset_name: '', testset_description: '', testset_tags: '', testset_meta: '' },
    }
    const { status, body } = await client.send('/simple/testsets/upload', 'a\n1\n', { fields })
    expect(status, JSON.stringify(body)).to.equal(200)
    expect(body.testset).to.not.have.any.keys('name', 'description', 'tags', 'meta')
    const kept = await client.send(`/simple/testsets/${body.testset.id}/upload`, 'a\n2\n', {
      fields: { testset_name: 'Named', testset_tags: '{"a":"b"}' },
    })
    expect(kept.body.testset).to.deep.include({ name: 'Named', tags: { a: 'b' } })
    const again = await client.send(`/simple/testsets/${body.testset.id}/upload`, 'a\n3\n', { fields })
    expect(again.body.testset).to.deep.include({ name: 'Named', tags: { a: 'b' } })
  })

  it('an unknown testset or revision is 404', async () => {
    const unknown = '0190a000-0000-7000-8000-000000000001'
    for (const path of [`/simple/testsets/${unknown}/upload`, `/testsets/revisions/${unknown}/upload`])
      expect((await client.send(path, 'a\n1\n')).status).to.equal(404)
  })

  it('an archived testset takes no file (409), and nothing is stored', async () => {
    const archived = await client.make([{ a: 1 }])
    await client.service.post(`/testsets/${archived.id}/archive`)
    const before = await settledFiles(client.service.storeDir)
    for (const path of [
      `/simple/testsets/${archived.id}/upload`,
      `/testsets/revisions/${archived.revisionId}/upload`,
    ]) {
      expect((await client.send(path, 'a\n1\n')).status).to.equal(409)
      expect(storeFiles(client.service.storeDir)).to.deep.equal(before)
    }
  })

  it('what is announced as gzip and is not, or is cut off, is 400', async () => {
    const before = await settledFiles(client.service.storeDir)
    for (const body of [Buffer.from('a\n1\n'), gzipSync('a\n1\n'.repeat(1000)).subarray(0, 20)]) {
      const reply = await fetch(`${client.service.url}/simple/testsets/upload`, {
        method: 'POST',
        body: new Uint8Array(body),
        headers: {
          authorization: `ApiKey ${ADMIN_KEY}`,
          'content-type': 'text/csv',
          'content-encoding': 'gzip',
        },
      })
      expect(reply.status).to.equal(400)
    }
    expect(storeFiles(client.service.storeDir)).to.deep.equal(before)
  })

  it('a header alone is a testset without rows', async () => {
    expect((await client.makeOf('a,b\n')).ids).to.deep.equal([])
  })
})

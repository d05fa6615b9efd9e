import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { type ClientRequest, Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { brotliCompressSync, createGzip, deflateSync, gzipSync } from 'node:zlib'
import { expect } from 'chai'
import type { Fs } from '../../../src/storage/files/fs.ts'
import { nodeFs } from '../../../src/storage/files/node-fs.ts'
import { identityName, thisProcess } from '../../../src/storage/files/process-identity.ts'
import { Spools, sweepUploads } from '../../../src/http/body/spool.ts'
import { type Upload, uploadIdentity, uploadReader } from '../../../src/http/body/upload.ts'
import { type Door, TOKEN, openDoor } from '../door.ts'

const LIMIT = 200_000
const FIELD_LIMIT = 1000
const FRAMING = 2 * 1024 * 1024

const FORM = 'multipart/form-data; boundary=boundary'
const END = '--boundary--\r\n'

describe('uploads', () => {
  const folder = mkdtempSync(join(tmpdir(), 'uploads-'))
  let door: Door
  let uploads: Upload[] = []
  let settled = 0
  let diskError: Error | undefined

  before(async () => {
    const fs: Fs = {
      ...nodeFs,
      createLog: (path) => {
        const log = nodeFs.createLog(path)
        return {
          ...log,
          append: (bytes) => {
            if (diskError) throw diskError
            log.append(bytes)
          },
        }
      },
    }
    const spools = new Spools(fs, folder, 1e9)
    const read = uploadReader({ spools, maxBytes: LIMIT, maxFieldBytes: FIELD_LIMIT })
    const roomy = uploadReader({ spools, maxBytes: 200_000_000, maxFieldBytes: FIELD_LIMIT })
    door = await openDoor((router) => {
      router.post('/upload', async (ctx) => {
        try {
          const upload = await read(ctx)
          uploads.push(upload)
          const { name, mediaType, bytes } = upload.file
          ctx.body = { fields: upload.fields, name, mediaType, bytes, text: await textOf(upload) }
          upload.discard()
        } finally {
          settled++
        }
      })
      router.post('/count', async (ctx) => {
        const upload = await roomy(ctx)
        let bytes = 0
        for await (const chunk of upload.file.chunks()) bytes += chunk.length
        ctx.body = { bytes, resident: process.memoryUsage().rss }
        upload.discard()
      })
    })
  })
  beforeEach(() => {
    uploads = []
    settled = 0
    diskError = undefined
  })
  afterEach(() => expect(readdirSync(folder), 'left behind').to.deep.equal([]))
  after(async () => {
    await door.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const send = (body: RequestInit['body'], headers: Record<string, string> = {}, query = '') =>
    door.fetch(`/upload${query}`, {
      method: 'POST',
      body: body ?? null,
      headers,
      ...(body instanceof ReadableStream ? { duplex: 'half' } : {}),
    } as RequestInit) // lib.dom's type lacks duplex
  const sendParts = (parts: readonly (string | Buffer)[], headers: Record<string, string> = {}, query = '') =>
    send(Buffer.concat(parts.map((part) => Buffer.from(part))), { 'content-type': FORM, ...headers }, query)

  async function accepted(response: Response): Promise<Record<string, unknown>> {
    const text = await response.text()
    expect(response.status, text).to.equal(200)
    return JSON.parse(text) as Record<string, unknown>
  }
  async function refused(
    response: Response,
    status: number,
    code: string,
  ): Promise<{ detail: string } & Record<string, unknown>> {
    const problem = (await response.json()) as { detail: string } & Record<string, unknown>
    expect(problem, JSON.stringify(problem)).to.include({ status, code })
    expect(uploads).to.have.length(0)
    return problem
  }

  describe('as a form', () => {
    it('bring a file and fields, in any order, as a browser writes them', async () => {
      for (const isFileFirst of [true, false]) {
        const form = new FormData()
        const addFile = () => form.append('file', new Blob(['a,b\r\n1,é\r\n']), 'rows.csv')
        if (isFileFirst) addFile()
        form.append('testset_slug', 'capitals')
        form.append('testset_meta', '{"é":1}')
        form.append('anything', '')
        if (!isFileFirst) addFile()
        expect(await accepted(await send(form))).to.deep.equal({
          fields: { testset_slug: 'capitals', testset_meta: '{"é":1}', anything: '' },
          name: 'rows.csv',
          bytes: 11,
          text: 'a,b\r\n1,é\r\n',
        })
      }
    })

    it('may have an empty file, and one that holds what looks like a boundary', async () => {
      expect(await accepted(await sendParts([filePart(''), END]))).to.include({ bytes: 0, name: 'a.csv' })
      const text = '\r\n--x\r\n--boundar\r\n-----\r\n\r\n'
      expect(await accepted(await sendParts([filePart(text), END]))).to.include({ text })
    })

    for (const [parameters, name] of [
      ['filename="plain.csv"', 'plain.csv'],
      ['filename=bare.csv', 'bare.csv'],
      ['filename="we \\"quote\\"; well.csv"', 'we "quote"; well.csv'],
      ['filename="Übersicht 😀.csv"', 'Übersicht 😀.csv'],
      [`filename*=UTF-8''%C3%9Cbersicht.csv`, 'Übersicht.csv'],
      ['filename="C:\\\\data\\\\rows.csv"', 'rows.csv'],
      ['filename="../../etc/passwd"', 'passwd'],
      ['filename=""', undefined],
    ] as const) {
      it(`keep the file name of ${parameters}`, async () => {
        const answer = await sendParts([part(`name="file"; ${parameters}`, 'x'), END])
        expect((await accepted(answer))['name']).to.equal(name)
      })
    }

    it('go by the name of a part, not by its type', async () => {
      const answer = await accepted(
        await sendParts([
          part('name="file"; filename="a"', '[]', 'Content-Type: text/plain\r\n'),
          part('name="testset_slug"', 'x', 'Content-Type: application/octet-stream\r\n'),
          END,
        ]),
      )
      expect(answer).to.deep.include({ text: '[]', fields: { testset_slug: 'x' } })
      expect(answer).not.to.have.property('mediaType')
    })

    it('take a field that comes twice alike, and one from the query string if the form has none', async () => {
      const answer = await accepted(
        await sendParts([field('a', '1'), filePart('x'), field('a', '1'), END], {}, '?a=2&b=3&b=3'),
      )
      expect(answer['fields']).to.deep.equal({ a: '1', b: '3' })
    })

    it('may name a field as an object has members of its own', async () => {
      const answer = await sendParts([field('__proto__', '1'), field('constructor', '2'), filePart('x'), END])
      expect(await answer.text()).to.contain('"fields":{"__proto__":"1","constructor":"2"}')
    })

    it('ignore what stands before and after the parts', async () => {
      expect(await accepted(await sendParts(['hello\r\n', filePart('x'), END, 'bye']))).to.include({
        text: 'x',
      })
    })

    for (const [what, parts, status, code, words] of [
      [
        'fields that contradict each other',
        [filePart('x'), field('a', '1'), field('a', '2')],
        400,
        'contradictory_request',
        '"a"',
      ],
      ['no file', [field('a', '1')], 422, 'invalid_request', '@rows.csv'],
      ['no file chosen', [part('name="file"; filename=""', '')], 422, 'invalid_request', '@rows.csv'],
      ['text in place of the file', [field('file', 'a,b')], 422, 'invalid_request', 'body.file'],
      ['two files', [filePart('x'), filePart('x')], 422, 'invalid_request', 'two files'],
      [
        'a file in a field',
        [filePart('x'), part('name="notes"; filename="n"', 'x')],
        422,
        'invalid_request',
        'body.notes',
      ],
      [
        'a part without a name',
        [filePart('x'), part('filename="n"', 'x')],
        422,
        'invalid_request',
        'no name',
      ],
      [
        'a field that is not UTF-8',
        [filePart('x'), field('a', Buffer.from([0xff]))],
        422,
        'invalid_request',
        'body.a',
      ],
      [
        'a base64 part',
        [part('name="file"; filename="a"', 'eA==', 'Content-Transfer-Encoding: base64\r\n')],
        415,
        'unsupported_media_type',
        'base64',
      ],
      [
        'a huge field',
        [filePart('x'), field('a', 'x'.repeat(FIELD_LIMIT))],
        413,
        'body_too_large',
        String(FIELD_LIMIT),
      ],
      [
        'much too huge a field',
        [field('a', 'x'.repeat(FIELD_LIMIT * 1000)), filePart('x')],
        413,
        'body_too_large',
        String(FIELD_LIMIT),
      ],
      [
        'many small fields',
        [filePart('x'), ...Array.from({ length: 40 }, (_, n) => field(`f${n}`, 'x'.repeat(25)))],
        413,
        'body_too_large',
        String(FIELD_LIMIT),
      ],
      [
        'many parts',
        [filePart('x'), ...Array.from({ length: 100 }, () => field('f', ''))],
        422,
        'invalid_request',
        '100 parts',
      ],
      ['a file past the limit', [filePart('x'.repeat(LIMIT + 1))], 413, 'body_too_large', String(LIMIT)],
      [
        'a header without an end',
        [filePart('x'), `--boundary\r\nX: ${'x'.repeat(FRAMING)}`],
        413,
        'body_too_large',
        String(LIMIT),
      ],
      [
        'a header that hides the disposition',
        [
          `--boundary\r\nX: ${'x'.repeat(20_000)}\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nx\r\n`,
        ],
        422,
        'invalid_request',
        '@rows.csv',
      ],
      [
        'a form in the form',
        [
          part(
            'name="file"',
            '--in\r\nContent-Disposition: file; filename="a"\r\n\r\nx\r\n--in--',
            'Content-Type: multipart/mixed; boundary=in\r\n',
          ),
        ],
        422,
        'invalid_request',
        'plain text',
      ],
    ] as const) {
      it(`are ${status} with ${what}`, async () => {
        const problem = await refused(await sendParts([...parts, END]), status, code)
        expect(problem.detail).to.contain(words)
      })
    }

    it('fit exactly at the limit, however large their fields are', async () => {
      const parts = [filePart('x'.repeat(LIMIT)), field('a', 'x'.repeat(FIELD_LIMIT - 1)), END]
      expect(await accepted(await sendParts(parts))).to.include({ bytes: LIMIT })
    })

    const whole = Buffer.from([filePart('x,y\r\n1,2\r\n'), field('a', '1'), END].join(''))
    for (const end of [0, 5, 20, 60, 90, 101, 115, 130, 140, whole.length - 6, whole.length - 4]) {
      it(`are 400 when they end after ${end} of ${whole.length} bytes`, async () => {
        const body = whole.subarray(0, end)
        if (end === 0) await refused(await sendParts([body]), 422, 'invalid_request')
        else await refused(await sendParts([body]), 400, 'contradictory_request')
      })
    }

    for (const type of [
      'multipart/form-data',
      'multipart/form-data; boundary=',
      'multipart/form-data; boundary=other',
    ]) {
      it(`are 400 as ${type}`, async () => {
        const answer = await send(whole, { 'content-type': type })
        expect((await refused(answer, 400, 'contradictory_request')).detail).to.contain('boundary')
      })
    }
  })

  describe('as the file itself', () => {
    for (const type of ['text/csv', 'application/json', 'application/jsonl', 'application/x-ndjson']) {
      it(`come as ${type}, with the fields in the query string`, async () => {
        const answer = await send(
          'a\n1\n',
          { 'content-type': `${type}; charset=UTF-8` },
          '?testset_slug=c&empty=',
        )
        expect(await accepted(answer)).to.deep.equal({
          fields: { testset_slug: 'c', empty: '' },
          mediaType: type,
          bytes: 4,
          text: 'a\n1\n',
        })
      })
    }

    for (const type of [
      '',
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/mixed; boundary=boundary',
      'multipart/form-dataset; boundary=boundary',
      'text/csv; charset=latin1',
    ]) {
      it(`are 415 as "${type}"`, async () => {
        const answer = await send(Buffer.from('a'), { 'content-type': type })
        expect((await refused(answer, 415, 'unsupported_media_type')).detail).to.contain('text/csv')
      })
    }

    it('may be without a byte, announced or not, where it says what it is, and are 422 otherwise', async () => {
      await refused(await send(undefined, {}), 422, 'invalid_request')
      for (const body of [undefined, '', new Blob([]).stream()])
        expect(await accepted(await send(body, { 'content-type': 'text/csv' }))).to.include({ bytes: 0 })
    })

    it('are 400 with a parameter that contradicts itself', async () => {
      const answer = await send('a', { 'content-type': 'text/csv' }, '?a=1&a=2')
      await refused(answer, 400, 'contradictory_request')
    })

    it('fit exactly at the limit and are 413 past it, announced or not', async () => {
      const type = { 'content-type': 'text/csv' }
      expect(await accepted(await send('x'.repeat(LIMIT), type))).to.include({ bytes: LIMIT })
      uploads = []
      for (const bytes of [LIMIT + 1, LIMIT + 3_000_000]) {
        const text = 'x'.repeat(bytes)
        for (const body of [text, new Blob([text]).stream()]) {
          const problem = await refused(await send(body, type), 413, 'body_too_large')
          expect(problem['details']).to.deep.equal({ limit_bytes: LIMIT })
        }
      }
    })
  })

  describe('compressed', () => {
    const text = `a,b\n${'1,2\n'.repeat(10_000)}`
    const form = [filePart(text), field('a', '1'), END].join('')
    for (const [encoding, compress] of [
      ['gzip', gzipSync],
      ['deflate', deflateSync],
      ['br', brotliCompressSync],
      ['GZIP', gzipSync],
      ['identity', Buffer.from],
    ] as const) {
      it(`with ${encoding} are inflated`, async () => {
        const encoded = { 'content-encoding': encoding }
        expect(await accepted(await sendParts([compress(form)], encoded))).to.deep.include({
          text,
          fields: { a: '1' },
        })
        const plain = await send(compress(text), { ...encoded, 'content-type': 'text/csv' })
        expect(await accepted(plain)).to.include({ text })
      })
    }

    it('are 415 with something else', async () => {
      await refused(await sendParts([form], { 'content-encoding': 'zstd' }), 415, 'unsupported_media_type')
    })

    it('are 400 when they do not inflate, or end too early', async () => {
      const whole = gzipSync(form)
      for (const bytes of [Buffer.from(form), whole.subarray(0, 100), whole.subarray(0, whole.length - 4)]) {
        await refused(await sendParts([bytes], { 'content-encoding': 'gzip' }), 400, 'contradictory_request')
      }
      await refused(await sendParts(['nonsense'], { 'content-encoding': 'br' }), 400, 'contradictory_request')
    })

    it('are 413 when they only get past the limit by inflating', async () => {
      const headers = { 'content-encoding': 'gzip' }
      const bomb = gzipSync(Buffer.alloc(5_000_000))
      await refused(await send(bomb, { ...headers, 'content-type': 'text/csv' }), 413, 'body_too_large')
      for (const before of [filePart(''), field('a', ''), '']) {
        const parts = gzipSync(Buffer.concat([Buffer.from(before), Buffer.alloc(5_000_000)]))
        await refused(await sendParts([parts], headers), 413, 'body_too_large')
      }
    })
  })

  for (const [what, type, start] of [
    ['text/csv', 'text/csv', 'x'.repeat(LIMIT + 1)],
    ['a form with a large file', FORM, filePart('x'.repeat(LIMIT + 1))],
    ['a form with a large field', FORM, field('a', 'x'.repeat(FIELD_LIMIT))],
  ] as const) {
    it(`are answered while they still come, and their connection goes on (${what})`, async () => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 })
      const large = 1_000_000
      const first = post(door.url, { 'content-type': type, 'content-length': large }, { agent })
      first.write(start)
      const answered = await answerTo(first)
      expect(answered.status).to.equal(413)
      first.end('x'.repeat(large - start.length))
      await once(first, 'close')
      const second = post(door.url, { 'content-type': 'text/csv', 'content-length': 2 }, { agent })
      second.end('ok')
      expect(await answerTo(second)).to.deep.include({ status: 200, port: answered.port })
      agent.destroy()
    })
  }

  for (const encoding of ['identity', 'gzip']) {
    for (const type of ['text/csv', 'multipart/form-data; boundary=boundary']) {
      it(`that stop half-way (${encoding}, ${type}) end their request and leave nothing`, async () => {
        const outgoing = post(door.url, {
          'content-type': type,
          'content-encoding': encoding,
          'content-length': 100_000,
        })
        outgoing.on('error', () => undefined)
        const bytes = Buffer.from(filePart('x'.repeat(10_000)))
        outgoing.write(encoding === 'gzip' ? gzipSync(bytes).subarray(0, 60) : bytes)
        await until(() => readdirSync(folder).length === 1)
        outgoing.destroy()
        await until(() => settled === 1)
        expect(uploads).to.have.length(0)
      })
    }
  }

  it('that meet a full disk are 503 and leave nothing', async () => {
    diskError = Object.assign(new Error('ENOSPC: no space left on device, write'), {
      code: 'ENOSPC',
      syscall: 'write',
    })
    await refused(await sendParts([filePart('x'), END]), 503, 'storage_unavailable')
    await refused(await send('x', { 'content-type': 'text/csv' }), 503, 'storage_unavailable')
  })

  it('can be read more than once, in pieces of 256 KiB, until they are discarded', async () => {
    const read = uploadReader({
      spools: new Spools(nodeFs, folder, 1e9),
      maxBytes: 1_000_000,
      maxFieldBytes: 0,
    })
    const lengths: number[][] = []
    const other = await openDoor((router) =>
      router.post('/upload', async (ctx) => {
        const upload = await read(ctx)
        for (let n = 0; n < 2; n++) {
          const pieces: number[] = []
          for await (const chunk of upload.file.chunks()) pieces.push(chunk.length)
          lengths.push(pieces)
        }
        upload.discard()
        upload.discard()
        await expectFailure(textOf(upload), 'discarded')
        ctx.body = {}
      }),
    )
    const headers = { 'content-type': 'text/csv' }
    await other.fetch('/upload', { method: 'POST', headers, body: 'x'.repeat(600_000) })
    await other.close()
    expect(lengths).to.deep.equal([
      [262_144, 262_144, 75_712],
      [262_144, 262_144, 75_712],
    ])
  })

  it('are the same upload whatever boundary and order they come with', async () => {
    await sendParts([filePart('x'), field('a', '1'), field('b', '2'), END])
    const form = new FormData()
    for (const [name, value] of [
      ['b', '2'],
      ['a', '1'],
    ] as const)
      form.append(name, value)
    form.append('file', new Blob(['x']), 'another.csv')
    await send(form)
    await sendParts([filePart('y'), field('a', '1'), field('b', '2'), END])
    await sendParts([filePart('x'), field('a', '1'), END])
    await send('x', { 'content-type': 'text/csv' }, '?a=1&b=2')
    const identities = uploads.map((upload) => uploadIdentity(upload).join('\n'))
    expect(identities[1]).to.equal(identities[0])
    expect(new Set(identities).size).to.equal(4)
  })

  for (const [what, headers] of [
    ['plain', {}],
    ['gzip', { 'content-encoding': 'gzip' }],
  ] as const) {
    it(`of 150 MB (${what}) stay out of memory`, async () => {
      const before = process.memoryUsage().rss
      const source = Readable.from(bigForm(150))
      const body = what === 'gzip' ? source.pipe(createGzip({ level: 1 })) : source
      const outgoing = post(door.url, { 'content-type': FORM, ...headers }, { path: '/count' })
      body.pipe(outgoing)
      const answer = JSON.parse((await answerTo(outgoing)).text) as { bytes: number; resident: number }
      const { bytes, resident } = answer
      expect(bytes).to.equal(150 * 1024 * 1024)
      // Garbage of some 60 MB may lie about before V8 collects it.
      expect(resident - before).to.be.below(100e6)
    })
  }
})

describe('spools of dead processes', () => {
  it('are removed at the next start, those of living ones and other files are not', () => {
    const folder = mkdtempSync(join(tmpdir(), 'sweep-'))
    const self = thisProcess()
    const names = [
      `${identityName({ ...self, start: '1' })}.1`,
      `${identityName({ ...self, boot: 'abc' })}.7`,
      `${identityName(self)}.3`,
      `${identityName({ ...self, host: 'elsewhere' })}.1`,
      'notes',
    ]
    for (const name of names) writeFileSync(join(folder, name), 'x')
    sweepUploads(nodeFs, folder)
    expect(names.filter((name) => existsSync(join(folder, name)))).to.deep.equal(names.slice(2))
    rmSync(folder, { recursive: true })
    sweepUploads(nodeFs, folder)
  })
})

function part(disposition: string, content: string | Buffer, headers = ''): string | Buffer {
  const head = `--boundary\r\n${headers}Content-Disposition: form-data; ${disposition}\r\n\r\n`
  if (typeof content === 'string') return `${head}${content}\r\n`
  return Buffer.concat([Buffer.from(head), content, Buffer.from('\r\n')])
}

function filePart(content: string) {
  return part('name="file"; filename="a.csv"', content)
}

function field(name: string, content: string | Buffer) {
  return part(`name="${name}"`, content)
}

function* bigForm(megabytes: number): Generator<Buffer> {
  yield Buffer.from(`--boundary\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n`)
  const line = Buffer.alloc(64 * 1024, 'some,cells,of,a,row\r\n')
  for (let n = 0; n < megabytes * 16; n++) yield line
  yield Buffer.from(`\r\n${END}`)
}

function post(
  url: string,
  headers: Record<string, string | number>,
  { path = '/upload', ...options }: { readonly path?: string; readonly agent?: Agent } = {},
): ClientRequest {
  const withKey = { ...headers, authorization: `ApiKey ${TOKEN}` }
  return request(url + path, { method: 'POST', headers: withKey, ...options })
}

function answerTo(outgoing: ClientRequest) {
  return new Promise<{ status: number | undefined; text: string; port: number | undefined }>(
    (resolve, reject) => {
      outgoing.on('error', reject).on('response', (response) => {
        const port = outgoing.socket?.localPort
        let text = ''
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
        response.on('end', () => resolve({ status: response.statusCode, text, port }))
      })
    },
  )
}

async function textOf({ file }: Upload): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of file.chunks()) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 10))
}

async function expectFailure(promise: Promise<unknown>, words: string): Promise<void> {
  const message = await promise.then(
    () => 'nothing failed',
    (error: Error) => error.message,
  )
  expect(message).to.contain(words)
}

import { existsSync, readdirSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { expect } from 'chai'
import { z } from 'zod'
import { callerWith } from '../../src/access/keys/caller.ts'
import { Intents } from '../../src/access/keys/intents.ts'
import { invalid } from '../../src/errors.ts'
import { nodeFs } from '../../src/storage/files/node-fs.ts'
import { jsonBodyReader } from '../../src/http/body/json-body.ts'
import { type EndpointResponse, endpoint, uploadEndpoint } from '../../src/http/routing/endpoint.ts'
import { openApiDocument } from '../../src/http/openapi/openapi.ts'
import { createRouter } from '../../src/http/routing/router.ts'
import { Spools } from '../../src/http/body/spool.ts'
import { uploadReader } from '../../src/http/body/upload.ts'
import type { Registry } from '../../src/registry/store/registry.ts'
import { CALLER, type Door, TOKEN, openDoor } from './door.ts'

const store = join(tmpdir(), `upload-endpoint-${process.pid}`)
const folder = join(store, '.uploads')

const ID = '0190a000-0000-7000-8000-000000000001'
const seen: { input: unknown; text: string; id: string | undefined; onDisk: number }[] = []

const upload = uploadEndpoint({
  path: '/testsets/:id/upload',
  tag: 'testsets',
  summary: 'Upload',
  scope: 'write',
  input: z.strictObject({ file_type: z.enum(['csv', 'json']), testset_slug: z.string().optional() }),
  output: z.object({ bytes: z.number() }),
  run: async ({ input, upload: { file }, params }) => {
    let text = ''
    for await (const chunk of file.chunks()) text += chunk.toString('utf8')
    seen.push({ input, text, id: params['id'], onDisk: readdirSync(folder).length })
    if (text === 'bad') throw invalid(['body', 'file'], 'it is bad.')
    return { body: { bytes: file.bytes }, address: { id: ID } }
  },
  recall: async () => ({ body: { bytes: -1 } }),
})

let answerDownload: () => EndpointResponse
const download = endpoint({
  method: 'GET',
  path: '/testsets/:id/download',
  tag: 'testsets',
  summary: 'Download',
  scope: 'read',
  output: z.unknown(),
  downloads: ['text/csv', 'application/json'],
  run: async () => answerDownload(),
})

describe('endpoints of files', () => {
  let door: Door
  let scopes: ('read' | 'write')[] = ['read', 'write']

  before(async () => {
    rmSync(store, { recursive: true, force: true })
    nodeFs.makeDir(`${store}/default`)
    door = await openDoor(() => undefined, {
      authenticate: (token) =>
        token === TOKEN ? callerWith(CALLER.project, { ...CALLER.key, scopes }) : undefined,
      route: createRouter({
        readKeylessBody: () => expect.fail('nobody signs in here'),
        onUnknown: 'refuse',
        isExisting: false,
        endpoints: () => [upload, download],
        readJsonBody: jsonBodyReader({ maxBytes: 1000, maxHeldBytes: 1000, maxDepth: 10 }),
        readUpload: uploadReader({
          spools: new Spools(nodeFs, folder, 1e9),
          maxBytes: 1000,
          maxFieldBytes: 1000,
        }),
        registries: { of: () => Promise.resolve({ index: { age: 0 } } as Registry) }, // the endpoints here do without
        intents: new Intents(nodeFs, store, () => new Date()),
      }) as never, // typed for a state with a caller, which the door sets
    })
  })
  beforeEach(() => {
    seen.length = 0
    scopes = ['read', 'write']
  })
  after(async () => {
    await door.close()
    rmSync(store, { recursive: true, force: true })
  })

  const send = (text: string, fields: Record<string, string>, headers: Record<string, string> = {}) => {
    const form = new FormData()
    form.append('file', new Blob([text]), 'a.csv')
    for (const [name, value] of Object.entries(fields)) form.append(name, value)
    return door.fetch(`/testsets/${ID}/upload`, { method: 'POST', body: form, headers })
  }

  describe('that take one', () => {
    it('get the guarded fields and the file, which is gone afterwards', async () => {
      const answer = await send('a\n1\n', { file_type: 'csv' })
      expect(await answer.json()).to.deep.equal({ bytes: 4 })
      expect(seen).to.deep.equal([{ input: { file_type: 'csv' }, text: 'a\n1\n', id: ID, onDisk: 1 }])
      expect(readdirSync(folder)).to.deep.equal([])
    })

    it('get the same from a body that is the file, with fields in the query string', async () => {
      const answer = await door.fetch(`/testsets/${ID}/upload?file_type=json`, {
        method: 'POST',
        body: '[]',
        headers: { 'content-type': 'application/json' },
      })
      expect(await answer.json()).to.deep.equal({ bytes: 2 })
      expect(seen[0]?.input).to.deep.equal({ file_type: 'json' })
    })

    it('refuse fields they do not know, and leave nothing of what they refuse', async () => {
      for (const [text, fields] of [
        ['a', { file_type: 'xml' }],
        ['a', { file_type: 'csv', other: 'x' }],
        ['bad', { file_type: 'csv' }],
      ] as const) {
        const answer = await send(text, fields)
        expect(answer.status).to.equal(422)
        expect(readdirSync(folder)).to.deep.equal([])
      }
    })

    it('read nothing for a key without the scope', async () => {
      rmSync(folder, { recursive: true })
      scopes = ['read']
      expect((await send('a', { file_type: 'csv' })).status).to.equal(403)
      expect(existsSync(folder)).to.equal(false)
    })

    it('answer the first result again for an Idempotency-Key, whatever the boundary, and 422 for another file', async () => {
      const key = { 'Idempotency-Key': 'once' }
      expect(await (await send('a', { file_type: 'csv', testset_slug: 's' }, key)).json()).to.deep.equal({
        bytes: 1,
      })
      const again = await send('a', { testset_slug: 's', file_type: 'csv' }, key)
      expect(again.headers.get('idempotent-replayed')).to.equal('true')
      expect(await again.json()).to.deep.equal({ bytes: -1 })
      expect(seen).to.have.length(1)
      for (const [text, slug] of [
        ['b', 's'],
        ['a', 't'],
      ] as const) {
        const other = await send(text, { file_type: 'csv', testset_slug: slug }, key)
        expect(other.status).to.equal(422)
        expect(await other.json()).to.include({ code: 'idempotency_key_reused' })
      }
      expect(readdirSync(folder)).to.deep.equal([])
    })
  })

  describe('that stream one', () => {
    const get = (init: RequestInit = {}) => door.fetch(`/testsets/${ID}/download`, init)
    let asked = 0
    let closed = 0

    /** Pieces of 64 KiB, so that it shows when they are asked for; `fail` throws in place of that piece. */
    async function* pieces(count: number, fail?: number): AsyncGenerator<Buffer> {
      try {
        for (asked = 0; asked < count; asked++) {
          if (asked === fail) throw invalid(['query', 'x'], 'it failed.')
          yield Buffer.alloc(64 * 1024, 'x')
        }
      } finally {
        closed++
      }
    }
    beforeEach(() => {
      asked = closed = 0
    })

    it('answer the pieces with type, name and entity tag', async () => {
      answerDownload = () => ({
        stream: Readable.from(['a,b\r\n', '', Buffer.from('é,"😀"\r\n')]),
        contentType: 'text/csv; charset=utf-8',
        fileName: 'naïve "€".csv',
        etag: '"x.y"',
      })
      const answer = await get()
      expect(await answer.text()).to.equal('a,b\r\né,"😀"\r\n')
      expect(answer.headers.get('content-type')).to.equal('text/csv; charset=utf-8')
      expect(answer.headers.get('etag')).to.equal('"x.y"')
      // As bytes of Latin-1 for old clients, whole for the others.
      expect(answer.headers.get('content-disposition')).to.equal(
        `attachment; filename="naïve \\"?\\".csv"; filename*=UTF-8''na%C3%AFve%20%22%E2%82%AC%22.csv`,
      )
    })

    it('may be empty', async () => {
      answerDownload = () => ({ stream: pieces(0), contentType: 'text/csv' })
      const answer = await get()
      expect([answer.status, await answer.text(), closed]).to.deep.equal([200, '', 1])
      expect(answer.headers.has('content-disposition')).to.equal(false)
    })

    it('arrive whole, and are closed once', async () => {
      answerDownload = () => ({ stream: pieces(100), contentType: 'text/csv' })
      expect((await (await get()).arrayBuffer()).byteLength).to.equal(100 * 64 * 1024)
      expect(closed).to.equal(1)
    })

    it('are a problem document if the first piece fails', async () => {
      answerDownload = () => ({ stream: pieces(3, 0), contentType: 'text/csv', fileName: 'a.csv' })
      const answer = await get()
      expect([answer.status, closed]).to.deep.equal([422, 1])
      expect(answer.headers.get('content-type')).to.equal('application/problem+json')
      expect(answer.headers.has('content-disposition')).to.equal(false)
    })

    it('break off if a later one fails, never ending as if they were whole', async () => {
      answerDownload = () => ({ stream: pieces(9, 5), contentType: 'text/csv' })
      const error = await get()
        .then((answer) => answer.arrayBuffer())
        .then(
          () => undefined,
          (thrown: Error) => thrown,
        )
      expect(error).to.be.instanceOf(TypeError)
      expect(closed).to.equal(1)
    })

    it('wait for a slow client, and stop when it goes', async () => {
      answerDownload = () => ({ stream: pieces(10_000), contentType: 'text/csv' })
      const headers = { authorization: `ApiKey ${TOKEN}` }
      const outgoing = request(`${door.url}/testsets/${ID}/download`, { headers })
      outgoing.on('error', () => undefined).end()
      // Without reading it, what the sockets of both sides hold is all that is asked for.
      outgoing.on('response', (response) => response.pause().on('error', () => undefined))
      let before = -1
      while (asked !== before || asked === 0) {
        before = asked
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
      expect(asked).to.be.within(1, 500)
      expect(closed).to.equal(0)
      outgoing.destroy()
      while (closed === 0) await new Promise((resolve) => setTimeout(resolve, 10))
      expect(closed).to.equal(1)
      expect(asked).to.be.below(500)
    })

    it('are closed when nobody wants the body', async () => {
      answerDownload = () => ({ stream: pieces(5), contentType: 'text/csv' })
      expect((await get({ method: 'HEAD' })).status).to.equal(200)
      while (closed === 0) await new Promise((resolve) => setTimeout(resolve, 10))
      expect(closed).to.equal(1)
      answerDownload = () => ({ stream: pieces(5), contentType: 'text/csv', etag: '"x"', notModified: true })
      const answer = await get()
      expect([answer.status, answer.headers.get('etag')]).to.deep.equal([304, '"x"'])
    })
  })

  it('are described', async () => {
    const { paths } = (await openApiDocument([upload, download], [])) as { paths: Record<string, any> } // read freely
    const { post } = paths['/testsets/{id}/upload']
    expect(post.requestBody.required).to.equal(true)
    expect(Object.keys(post.requestBody.content)).to.deep.equal([
      'multipart/form-data',
      'text/csv',
      'text/tab-separated-values',
      'application/json',
      'application/jsonl',
      'application/x-ndjson',
      'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
      'application/gzip',
    ])
    expect(post.requestBody.content['multipart/form-data'].schema).to.deep.equal({
      type: 'object',
      properties: {
        file: { type: 'string', format: 'binary' },
        file_type: { type: 'string', enum: ['csv', 'json'] },
        testset_slug: { type: 'string' },
      },
      required: ['file', 'file_type'],
    })
    const names = post.parameters.map(
      (it: { name?: string; $ref?: string }) => it.name ?? it.$ref?.split('/').at(-1),
    )
    expect(names).to.deep.equal(['Id', 'file_type', 'testset_slug', 'IdempotencyKey'])
    const { get } = paths['/testsets/{id}/download']
    expect(Object.keys(get.responses[200].content)).to.deep.equal(['text/csv', 'application/json'])
  })
})

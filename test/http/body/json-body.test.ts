import { type ClientRequest, Agent, request } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { expect } from 'chai'
import { type JsonBody, jsonBodyReader } from '../../../src/http/body/json-body.ts'
import { stringifyJson } from '../../../src/base/json/stringify-json.ts'
import { type Door, TOKEN, openDoor } from '../door.ts'

const LIMIT = 100_000
const JSON_HEADERS = { 'content-type': 'application/json' }

describe('JSON bodies', () => {
  let door: Door
  let bodies: JsonBody[] = []
  let begun = 0
  let settled = 0

  before(async () => {
    const read = jsonBodyReader({ maxBytes: LIMIT, maxHeldBytes: LIMIT, maxDepth: 10 })
    door = await openDoor((router) => {
      router.all('/echo', async (ctx) => {
        begun++
        try {
          const body = await read(ctx)
          const { value } = body
          bodies.push(body)
          ctx.body = value === undefined ? 'nothing' : stringifyJson(value)
        } finally {
          settled++
        }
      })
    })
  })
  beforeEach(() => {
    bodies = []
    begun = 0
    settled = 0
  })
  after(() => door.close())

  const send = (body: RequestInit['body'], headers: Record<string, string> = JSON_HEADERS, method = 'POST') =>
    door.fetch('/echo', { method, body: body ?? null, headers })

  async function refused(response: Response) {
    expect(bodies).to.have.length(0)
    const problem = (await response.json()) as Record<string, unknown>
    expect(problem['status']).to.equal(response.status)
    return problem
  }

  it('arrive as a value and as the very text', async () => {
    const text = '{ "b": [1, "é 😀"], "a": null }'
    expect(await (await send(text)).text()).to.equal('{"b":[1,"é 😀"],"a":null}')
    expect(bodies[0]?.text).to.equal(text)
  })

  it('keep what JSON.parse would change', async () => {
    const text =
      '{"10":12345678901234567890,"2":1e400,"__proto__":{"x":0.1000000000000000055},"constructor":1}'
    expect(await (await send(text)).text()).to.equal(text)
  })

  it('may be any JSON value', async () => {
    for (const text of ['null', '[]', '"x"', '0', 'true'])
      expect(await (await send(text)).text()).to.equal(text)
  })

  it('are read for every method that may have one', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      expect(await (await send('[1]', JSON_HEADERS, method)).text()).to.equal('[1]')
    }
  })

  it('may be absent or empty, whatever their type says', async () => {
    expect(await (await send(undefined, {})).text()).to.equal('nothing')
    expect(await (await send('', JSON_HEADERS)).text()).to.equal('nothing')
    expect(await (await send('', { 'content-type': 'text/plain' })).text()).to.equal('nothing')
    expect(await (await door.fetch('/echo')).text()).to.equal('nothing')
    expect(bodies.map(({ value }) => value)).to.deep.equal([undefined, undefined, undefined, undefined])
  })

  for (const type of [
    'application/json',
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"',
    'Application/JSON; charset=utf8',
    'application/json;',
    'application/merge-patch+json',
    'application/vnd.api+json; version=1',
  ]) {
    it(`are JSON when they are announced as ${type}`, async () => {
      expect(await (await send('{"a":1}', { 'content-type': type })).text()).to.equal('{"a":1}')
    })
  }

  it('are JSON when nothing is announced', async () => {
    const response = await send(new Blob(['{"a":1}']), {})
    expect(await response.text()).to.equal('{"a":1}')
  })

  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/json; charset=latin1',
    'application/jsonp',
    'application/xml',
    'json',
  ]) {
    it(`are 415 as ${type}`, async () => {
      const response = await send('{"a":1}', { 'content-type': type })
      expect(response.status).to.equal(415)
      expect(await refused(response)).to.include({ code: 'unsupported_media_type' })
    })
  }

  for (const [text, line, column] of [
    ['{', 1, 2],
    ['{"a":1,}', 1, 8],
    ['{"a":1}\n\nx', 3, 1],
    ["{'a':1}", 1, 2],
    [' ', 1, 2],
    ['NaN', 1, 1],
  ] as const) {
    it(`are 400 with line and column for ${JSON.stringify(text)}`, async () => {
      const response = await send(text)
      expect(response.status).to.equal(400)
      const problem = await refused(response)
      expect(problem).to.include({ code: 'malformed_json' })
      expect(problem['details']).to.deep.equal({ line, column })
      expect(problem['detail']).to.contain(`line ${line}, column ${column}`)
    })
  }

  for (const [what, bytes] of [
    ['a lone continuation byte', [0x22, 0x80, 0x22]],
    ['Latin-1', [0x22, 0xe9, 0x22]],
    ['an overlong form', [0x22, 0xc0, 0xaf, 0x22]],
    ['an encoded surrogate', [0x22, 0xed, 0xa0, 0x80, 0x22]],
    ['a truncated character', [0x22, 0xf0, 0x9f, 0x22]],
    ['UTF-16', [0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]],
  ] as const) {
    it(`are 400 when they are not UTF-8: ${what}`, async () => {
      const response = await send(Uint8Array.from(bytes))
      expect(response.status).to.equal(400)
      expect(await refused(response)).to.include({ code: 'malformed_json' })
    })
  }

  for (const [type, text, loc] of [
    ['duplicate_key', '{"workflow":{"slug":"a","slug":"b"}}', ['body', 'workflow', 'slug']],
    ['lone_surrogate', '{"a":["\\ud800"]}', ['body', 'a', 0]],
  ] as const) {
    it(`are 422 ${type}, with the place`, async () => {
      const response = await send(text)
      expect(response.status).to.equal(422)
      const problem = await refused(response)
      expect(problem).to.include({ code: 'invalid_request' })
      const [first] = problem['errors'] as { loc: unknown; type: string }[]
      expect(first?.type).to.equal(type)
      expect(first?.loc).to.deep.equal(loc)
    })
  }

  it('are 422 too_deep past the limit, and fine at it', async () => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
    expect((await send(nested(10))).status).to.equal(200)
    bodies = []
    const response = await send(nested(11))
    expect(response.status).to.equal(422)
    const problem = await refused(response)
    expect((problem['errors'] as { type: string }[])[0]?.type).to.equal('too_deep')
  })

  it('survive ten thousand levels', async () => {
    expect((await send('['.repeat(50_000))).status).to.equal(422)
  })

  describe('past the limit', () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    after(() => agent.destroy())

    it('fit exactly at it', async () => {
      expect((await send(JSON.stringify('x'.repeat(LIMIT - 2)))).status).to.equal(200)
    })

    it('are 413 naming it, and the connection goes on', async () => {
      for (const chunked of [false, true]) {
        const big = await raw(agent, door.url, Buffer.alloc(5_000_000, 32), chunked)
        expect(big.status).to.equal(413)
        expect(JSON.parse(big.text)).to.deep.include({
          code: 'body_too_large',
          details: { limit_bytes: LIMIT },
        })
        const next = await raw(agent, door.url, Buffer.from('[1]'), chunked)
        expect(next).to.deep.include({ status: 200, text: '[1]' })
        expect(next.port, 'same connection').to.equal(big.port)
      }
    })

    it('are 413 when they only get there by inflating', async () => {
      const response = await send(gzipSync(Buffer.alloc(50_000_000, 32)), {
        ...JSON_HEADERS,
        'content-encoding': 'gzip',
      })
      expect(response.status).to.equal(413)
      expect(await refused(response)).to.include({ code: 'body_too_large' })
    })
  })

  describe('compressed', () => {
    const text = `{"a":"${'x'.repeat(50_000)}"}`
    for (const [encoding, bytes] of [
      ['gzip', gzipSync(text)],
      ['GZIP', gzipSync(text)],
      ['deflate', deflateSync(text)],
      ['br', brotliCompressSync(text)],
      ['identity', Buffer.from(text)],
    ] as const) {
      it(`with ${encoding} are read`, async () => {
        const response = await send(bytes, { ...JSON_HEADERS, 'content-encoding': encoding })
        expect(await response.text()).to.equal(text)
      })
    }

    for (const [what, encoding, bytes] of [
      ['not gzip at all', 'gzip', Buffer.from(text)],
      ['cut off', 'gzip', gzipSync(text).subarray(0, 30)],
      ['not brotli', 'br', Buffer.from('nonsense')],
    ] as const) {
      it(`but ${what} are 400`, async () => {
        const response = await send(bytes, { ...JSON_HEADERS, 'content-encoding': encoding })
        expect(response.status).to.equal(400)
        expect(await refused(response)).to.include({ code: 'malformed_json' })
      })
    }

    it('with something else are 415', async () => {
      const response = await send(text, { ...JSON_HEADERS, 'content-encoding': 'zstd' })
      expect(response.status).to.equal(415)
      expect(await refused(response)).to.include({ code: 'unsupported_media_type' })
    })
  })

  for (const encoding of ['identity', 'gzip']) {
    it(`that stop half-way (${encoding}) end their request`, async () => {
      const headers = { ...JSON_HEADERS, 'content-length': 1000, 'content-encoding': encoding }
      const outgoing: ClientRequest = request(`${door.url}/echo`, {
        method: 'POST',
        headers: withKey(headers),
      })
      outgoing.on('error', () => undefined)
      outgoing.write(encoding === 'gzip' ? gzipSync(Buffer.alloc(1e4)).subarray(0, 20) : '{"a":')
      while (begun === 0) await wait(5)
      outgoing.destroy()
      while (settled === 0) await wait(5)
      expect(settled).to.equal(1)
      expect(bodies).to.have.length(0)
    })
  }
})

const withKey = (headers: Record<string, string | number>) => ({
  ...headers,
  authorization: `ApiKey ${TOKEN}`,
})

/** A POST through node's own client, which shows the connection used; `chunked` announces no length. */
function raw(agent: Agent, url: string, body: Buffer, chunked: boolean) {
  return new Promise<{ status: number | undefined; text: string; port: number | undefined }>(
    (resolve, reject) => {
      const headers = withKey(chunked ? JSON_HEADERS : { ...JSON_HEADERS, 'content-length': body.length })
      const outgoing = request(`${url}/echo`, { method: 'POST', agent, headers }, (response) => {
        const port = outgoing.socket?.localPort
        let text = ''
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
        response.on('end', () => resolve({ status: response.statusCode, text, port }))
      })
      outgoing.on('error', reject)
      outgoing.write(body.subarray(0, body.length >> 1))
      outgoing.end(body.subarray(body.length >> 1))
    },
  )
}

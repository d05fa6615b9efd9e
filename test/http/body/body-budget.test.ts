import { type ClientRequest, request } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { expect } from 'chai'
import { jsonBodyReader } from '../../../src/http/body/json-body.ts'
import { type Door, TOKEN, openDoor } from '../door.ts'

const MOST = 1_000_000
const HEADERS = { 'content-type': 'application/json' }

/** JSON of so many bytes. */
const json = (bytes: number): string => `"${'x'.repeat(bytes - 2)}"`

describe('JSON bodies of many requests', () => {
  let door: Door
  let slow: ClientRequest | undefined
  /** The server's ends of the connections that requests came on. */
  const connections: Socket[] = []
  before(async () => {
    const read = jsonBodyReader({ maxBytes: 2 * MOST, maxHeldBytes: MOST, maxDepth: 10 })
    door = await openDoor((router) => {
      router.post('/length', async (ctx) => {
        connections.push(ctx.req.socket)
        ctx.body = String((await read(ctx)).text.length)
      })
    })
  })
  afterEach(() => slow?.destroy())
  after(() => door.close())

  const send = (body: string | Buffer, encoding?: string) =>
    door.fetch('/length', {
      method: 'POST',
      body,
      headers: { ...HEADERS, ...(encoding === undefined ? {} : { 'content-encoding': encoding }) },
    })
  const sendInChunks = (body: string) =>
    door.fetch('/length', {
      method: 'POST',
      body: new ReadableStream({
        start: (controller) => {
          controller.enqueue(Buffer.from(body))
          controller.close()
        },
      }),
      headers: HEADERS,
      duplex: 'half',
    } as RequestInit) // which the types of node leave out

  /** A request whose body has come but for its end; answers what ends it, and its status. */
  const begin = async (text: string) => {
    const before = connections.length
    const outgoing = request(`${door.url}/length`, {
      method: 'POST',
      agent: false,
      headers: { ...HEADERS, authorization: `ApiKey ${TOKEN}` },
    })
    slow = outgoing
    const status = new Promise<number | undefined>((resolve) => {
      outgoing.on('response', (response) => resolve(response.resume().statusCode))
      outgoing.on('error', () => resolve(undefined))
    })
    outgoing.write(text.slice(0, -1))
    while ((connections[before]?.bytesRead ?? 0) < text.length) await wait(1)
    return (): Promise<number | undefined> => {
      outgoing.end(text.slice(-1))
      return status
    }
  }
  it('that are large find no room beside others: 503 with Retry-After, until those are answered', async () => {
    const finish = await begin(json(900_000))
    const refused = await send(json(300_000))
    expect(refused.status).to.equal(503)
    expect(refused.headers.get('retry-after')).to.equal('1')
    expect(await refused.json()).to.deep.include({ status: 503, code: 'overloaded' })
    expect((await sendInChunks(json(300_000))).status).to.equal(503)
    expect((await send(gzipSync(json(700_000)), 'gzip')).status).to.equal(503)
    expect((await send(brotliCompressSync(json(10)), 'br')).status).to.equal(503)
    expect((await send(json(90_000))).status).to.equal(200)
    expect(await finish()).to.equal(200)
    for (const answer of [send(json(300_000)), sendInChunks(json(300_000))])
      expect(await (await answer).text()).to.equal('300000')
  })

  it('that are small are read all the same', async () => {
    const finish = await begin(json(999_000))
    expect((await send(json(300_000))).status).to.equal(503)
    expect(await (await send(json(60_000))).text()).to.equal('60000')
    expect(await (await sendInChunks(json(60_000))).text()).to.equal('60000')
    expect(await (await send(gzipSync('[]'), 'gzip')).text()).to.equal('2')
    expect(await finish()).to.equal(200)
  })

  it('leave their room when they are cut off or refused', async () => {
    await begin(json(900_000))
    expect((await send(json(300_000))).status).to.equal(503)
    slow?.destroy()
    while ((await send(json(300_000))).status === 503) await wait(5)
    for (const bad of [Buffer.alloc(900_000, 0xff), json(3 * MOST)])
      expect((await send(bad)).status).to.be.oneOf([400, 413])
    expect((await send(json(MOST))).status).to.equal(200)
  })

  it('always have room for one, however large', async () => {
    expect(await (await send(json(1_500_000))).text()).to.equal('1500000')
    expect(await (await send(gzipSync(json(1_500_000)), 'gzip')).text()).to.equal('1500000')
  })
})

import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { expect } from 'chai'
import { type Door, openDoor, TOKEN } from '../door.ts'

const UNSENT = 'an answer could not be sent'

describe('what a route puts on its context', () => {
  let door: Door
  let endless: Readable | undefined
  let late: Readable | undefined
  let waiting = 0

  before(async () => {
    door = await openDoor((router) => {
      router.get('/object', (ctx) => (ctx.body = { town: 'Łódź' }))
      router.get('/text', (ctx) => (ctx.body = 'Łódź'))
      router.get('/bytes', (ctx) => (ctx.body = Buffer.from([0, 255])))
      router.get('/unspeakable', (ctx) => (ctx.body = { count: 1n }))
      router.get('/none', (ctx) => (ctx.status = 204))
      router.get('/stream', (ctx) => (ctx.body = Readable.from(['a', 'b'])))
      router.get('/breaks', (ctx) => (ctx.body = Readable.from(breaking())))
      router.get('/endless', (ctx) => (ctx.body = endless = new Readable({ read() {} })))
      router.get('/late', async (ctx) => {
        waiting++
        await new Promise((resolve) => ctx.res.on('close', resolve)).finally(() => waiting--)
        ctx.body = late = new Readable({ read() {} })
      })
      router.get('/never', (ctx) => {
        waiting++
        return new Promise((resolve) => ctx.res.on('close', resolve)).finally(() => waiting--)
      })
    })
  })
  after(() => door.close())

  it('is sent as it is, with its length; an object as JSON', async () => {
    const told = async (path: string) => {
      const answer = await door.fetch(path)
      const { headers } = answer
      return [await answer.text(), headers.get('content-type'), headers.get('content-length')]
    }
    expect(await told('/object')).to.deep.equal(['{"town":"Łódź"}', 'application/json; charset=utf-8', '18'])
    expect(await told('/text')).to.deep.equal(['Łódź', 'text/plain; charset=utf-8', '7'])
    expect(await told('/stream')).to.deep.equal(['ab', 'application/octet-stream', null])
    expect(Buffer.from(await (await door.fetch('/bytes')).arrayBuffer())).to.deep.equal(Buffer.of(0, 255))
    expect((await door.fetch('/none')).status).to.equal(204)
  })

  it('is left out of the answer to HEAD, which has its length all the same', async () => {
    for (const path of ['/object', '/text', '/ready']) {
      const got = await door.fetch(path)
      const asked = await door.fetch(path, { method: 'HEAD' })
      expect(asked.status).to.equal(200)
      expect(asked.headers.get('content-length'))
        .to.equal(got.headers.get('content-length'))
        .and.not.equal(null)
      expect(await asked.text()).to.equal('')
    }
  })

  it('breaks the connection when it is a stream that fails, and the log says why', async () => {
    const answer = await door.fetch('/breaks')
    expect(await answer.text().catch(() => 'broken')).to.equal('broken')
    // Which of them learns of it first is up to node.
    const told = () => door.log().lines.find(({ msg }) => msg === UNSENT)
    await until(() => told() !== undefined)
    expect(told()).to.have.nested.property('err.message', 'the source is dry')
  })

  it('is a 500 where it cannot be written, and the log says why', async () => {
    expect((await door.fetch('/unspeakable')).status).to.equal(500)
    const lines = door.log().lines.filter(({ msg }) => msg === UNSENT)
    expect(lines.at(-1)).to.have.nested.property('err.message').that.contains('BigInt')
  })

  it('is closed when it is a stream and its client goes', async () => {
    const going = new AbortController()
    const answer = door.fetch('/endless', { signal: going.signal }).catch(() => undefined)
    await until(() => endless !== undefined)
    endless?.push('a')
    await answer
    going.abort()
    await until(() => endless?.destroyed === true)
  })

  it('is closed when it is a stream and comes after its client, who waited for another answer first, has gone', async () => {
    const socket = connect(Number(new URL(door.url).port), '127.0.0.1')
    const head = `HTTP/1.1\r\nHost: x\r\nAuthorization: ApiKey ${TOKEN}\r\n\r\n`
    socket.write(`GET /never ${head}GET /late ${head}`)
    await until(() => waiting === 2)
    socket.resetAndDestroy()
    await until(() => late?.destroyed === true)
  })

  it('is missed in the log when the connection breaks before it is there, once for all that wait', async () => {
    const before = door.log().lines.filter(({ msg }) => msg === UNSENT).length
    const socket = connect(Number(new URL(door.url).port), '127.0.0.1')
    const request = `GET /never HTTP/1.1\r\nHost: x\r\nAuthorization: ApiKey ${TOKEN}\r\n\r\n`
    socket.write(request.repeat(5))
    await until(() => waiting === 5)
    socket.resetAndDestroy()
    await until(() => waiting === 0)
    const told = door.log().lines.filter(({ msg }) => msg === UNSENT)
    expect(told).to.have.length(before + 1)
    expect(told.at(-1)).to.have.nested.property('err.code', 'ECONNRESET')
    // The clients that left their streams above are no reason for a warning.
    expect(JSON.stringify(told)).to.not.contain('ERR_STREAM_PREMATURE_CLOSE')
  })
})

async function* breaking(): AsyncGenerator<string> {
  yield 'a'
  await new Promise((resolve) => setTimeout(resolve, 10))
  throw new Error('the source is dry')
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5))
}

import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type Socket, connect } from 'node:net'
import { expect } from 'chai'
import { type RunningServer, type ServerOptions, startServer } from '../../src/http/server/server.ts'
import { rawRequest } from './raw-request.ts'

const LONG = 600_000
const PATIENT = { headers: LONG, request: LONG, stalled: LONG, look: 20 }
const GET = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'

describe('the limits of the server', () => {
  const running: RunningServer[] = []
  const sockets: Socket[] = []
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy()
    for (const server of running.splice(0)) await server.stop(0)
  })

  async function start(options: Partial<ServerOptions>): Promise<RunningServer> {
    const handle: ServerOptions['handle'] = async (_, response) => void response.end('done')
    const server = await startServer({
      host: '127.0.0.1',
      port: 0,
      maxConnections: 100,
      handle,
      patience: PATIENT,
      ...options,
    })
    running.push(server)
    return server
  }

  /** Asks again where the machine was so busy that the connection was taken for an idle one before its request was read. */
  async function answered({ url }: RunningServer, request: string): Promise<string> {
    for (let attempt = 1; attempt < 20; attempt++) {
      const answer = await rawRequest(url, request)
      if (answer !== '') return answer
    }
    return expect.fail('the connection is closed before it is answered')
  }

  async function open({ url }: RunningServer): Promise<Socket> {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    sockets.push(socket)
    socket.on('error', () => undefined)
    await once(socket, 'connect')
    return socket
  }

  it('closes a connection whose headers do not come', async () => {
    const server = await start({ patience: { ...PATIENT, headers: 100 } })
    expect(await rawRequest(server.url, 'GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ')).to.match(/^HTTP\/1\.1 408 /)
    expect(await rawRequest(server.url, '')).to.match(/^HTTP\/1\.1 408 /)
  })

  it('closes a connection whose body does not come', async () => {
    const server = await start({
      patience: { ...PATIENT, headers: 100, request: 100 },
      handle: async (request) => {
        for await (const _ of request);
      },
    })
    const answer = await rawRequest(server.url, 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{')
    expect(answer).to.match(/^HTTP\/1\.1 408 /)
  })

  it('closes a connection that is idle, also after an answer that took longer than that', async () => {
    const server = await start({
      patience: { ...PATIENT, stalled: 200 },
      handle: async ({ url, socket }, response) => {
        if (url === '/') response.end('done')
        // It answers once its connection was still for as long as an idle one may be.
        else socket.once('timeout', () => response.end('done'))
      },
    })
    const paths = ['/', '/long', '/long', '/']
    const answers = paths.map((path) => answered(server, `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`))
    for (const answer of await Promise.all(answers)) expect(answer).to.match(/\r\ndone/)
  })

  it('closes a connection whose client does not read its answer, and waits for an answer that takes long', async () => {
    let isGone = false
    const server = await start({
      patience: { ...PATIENT, stalled: 500 },
      handle: async ({ url, socket }, response) => {
        if (url === '/long') return void socket.once('timeout', () => response.end('at last'))
        response.write(Buffer.alloc(64 * 1024 * 1024))
        await once(response, 'close')
        isGone = true
      },
    })
    const silent = await open(server)
    silent.pause()
    silent.write(GET)
    expect(await answered(server, GET.replace('/ ', '/long '))).to.contain('at last')
    while (!isGone) await new Promise((resolve) => setTimeout(resolve, 20))
    expect(server.answering.size).to.equal(0)
  })

  it('tells connections past the limit to come back, and takes new ones when others have gone', async () => {
    const server = await start({ maxConnections: 2 })
    const [first] = [await open(server), await open(server)]
    const refused = await rawRequest(server.url, GET)
    expect(refused)
      .to.match(/^HTTP\/1\.1 503 /)
      .and.contain('Retry-After: 1')
    expect(JSON.parse(refused.split('\r\n\r\n')[1] ?? '')).to.include({ status: 503, code: 'overloaded' })
    expect(server.refused).to.equal(1)
    first.destroy()
    let answer = ''
    do answer = await rawRequest(server.url, GET)
    while (answer.includes(' 503 '))
    expect(answer).to.contain('done')
  })

  it('has the kernel keep connections that come all at once', async function () {
    const many = 600
    if (Number(readFileSync('/proc/sys/net/core/somaxconn', 'utf8')) < many) this.skip()
    const server = await start({ maxConnections: many })
    const port = Number(new URL(server.url).port)
    for (let opened = 0; opened < many; opened++)
      sockets.push(connect(port, '127.0.0.1').on('error', () => undefined))
    await new Promise<void>((connected) => process.nextTick(connected))
    // The event loop has no turn, so that none is accepted: those past what the kernel keeps would never be kept.
    const giveUp = performance.now() + 10_000
    while (keptByKernel(port) < many && performance.now() < giveUp);
    expect(keptByKernel(port)).to.equal(many)
  })

  it('answers nothing that comes on a connection it has refused', async () => {
    let asked = 0
    const server = await start({
      maxConnections: 1,
      handle: async (_, response) => {
        asked++
        response.end()
      },
    })
    await open(server)
    await rawRequest(server.url, GET)
    expect(asked).to.equal(0)
    expect(server.answering.size).to.equal(0)
  })
})

/** How many connections to a port of this machine wait to be accepted, as Linux tells it. */
function keptByKernel(port: number): number {
  const local = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const listening = '0A'
  const sockets = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
  const [, , , , queues = ''] = sockets.find(([, at, , state]) => at === local && state === listening) ?? []
  return Number.parseInt(queues.split(':')[1] ?? '', 16)
}

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, renameSync, rmSync } from 'node:fs'
import { Agent, get, type ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { clientAbort } from '../../../src/http/routing/client-abort.ts'
import { type RunningServer, reachableHost, startServer } from '../../../src/http/server/server.ts'

/** More than any test takes, in milliseconds. */
const GRACE = 30_000

describe('the server', () => {
  const running: RunningServer[] = []
  afterEach(async () => {
    for (const server of running.splice(0)) await server.stop(0)
  })

  async function start(handle: Parameters<typeof startServer>[0]['handle'], port = 0) {
    const server = await startServer({ host: '127.0.0.1', port, maxConnections: 100, handle })
    running.push(server)
    return server
  }

  it('says in one sentence why it cannot listen', async () => {
    const first = await start(async (_, response) => void response.end())
    const port = Number(new URL(first.url).port)
    const error = await startServer({
      host: '127.0.0.1',
      port,
      maxConnections: 100,
      handle: async () => undefined,
    }).catch((e: Error) => e)
    expect(String(error)).to.contain(`Cannot listen on 127.0.0.1 port ${port}`).and.contain('PORT')
    const nowhere = await startServer({
      host: '203.0.113.1',
      port: 0,
      maxConnections: 100,
      handle: async () => undefined,
    }).catch(String)
    expect(nowhere).to.contain('this machine has no such address')
  })

  it('knows how it is reached', () => {
    expect(['127.0.0.1', 'localhost', '0.0.0.0', '::', '::1'].map(reachableHost)).to.deep.equal([
      '127.0.0.1',
      'localhost',
      '127.0.0.1',
      '[::1]',
      '[::1]',
    ])
  })

  it('finishes what is in flight, tells the client to go, and accepts no more', async () => {
    const work = new Work()
    const server = await start(async (_, response) => {
      await work.isDone()
      response.end('done')
    })
    const answer = fetch(server.url)
    await work.begun
    const stopped = server.stop(GRACE)
    expect(await fetch(server.url).catch(() => 'refused')).to.equal('refused')
    work.finish()
    const response = await answer
    expect(response.headers.get('connection')).to.equal('close')
    expect(await response.text()).to.equal('done')
    expect(await stopped).to.equal(true)
  })

  it('waits for work whose client has gone', async () => {
    const work = new Work()
    let committed = false
    let gone: Promise<unknown> | undefined
    const server = await start(async (_, response) => {
      gone = once(response, 'close')
      await work.isDone()
      committed = true
      response.end()
    })
    const leave = new AbortController()
    const answer = fetch(server.url, { signal: leave.signal }).catch(() => 'left')
    await work.begun
    leave.abort()
    expect(await answer).to.equal('left')
    await gone
    // A stop that waits for nothing comes to its end before this.
    setTimeout(() => work.finish(), 50)
    expect(await server.stop(GRACE)).to.equal(true)
    expect(committed).to.equal(true)
  })

  it('waits for each of those in flight, in whatever order they end', async () => {
    const works = [new Work(), new Work(), new Work()]
    const [first, second, third] = works
    const server = await start(async ({ url }, response) => {
      await works[Number(url?.slice(1))]?.isDone()
      response.end('done')
    })
    const answers = works.map((_, number) => fetch(`${server.url}/${number}`).then((it) => it.text()))
    await Promise.all(works.map(({ begun }) => begun))
    expect(server.answering.size).to.equal(3)
    let isStopped = false
    const stopped = server.stop(GRACE).finally(() => (isStopped = true))
    for (const [index, work] of [first, third, second].entries()) {
      expect([server.answering.size, isStopped]).to.deep.equal([3 - index, false])
      work?.finish()
      while (server.answering.size > 2 - index) await new Promise((resolve) => setTimeout(resolve, 5))
    }
    expect(await stopped).to.equal(true)
    expect(await Promise.all(answers)).to.deep.equal(['done', 'done', 'done'])
  })

  it('lets a client that takes its time read its answer to the end', async () => {
    const length = 32 * 1024 * 1024
    const server = await start(async (_, response) => void response.end(Buffer.alloc(length)))
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    let read = 0
    socket.on('data', (bytes: Buffer) => (read += bytes.length))
    await once(socket, 'data')
    socket.pause()
    const stopped = server.stop(GRACE)
    await new Promise((resolve) => setTimeout(resolve, 200))
    socket.resume()
    await once(socket, 'close')
    expect(read).to.be.greaterThan(length)
    expect(await stopped).to.equal(true)
  })

  it('forgets requests that waited for the answers before theirs when their connection is gone', async () => {
    const closed: (string | undefined)[] = []
    const responses: ServerResponse[] = []
    const works = [new Work(), new Work(), new Work()]
    const server = await start(async ({ url }, response) => {
      response.on('close', () => closed.push(url))
      responses.push(response)
      const work = works[Number(url?.slice(1))]
      await work?.isDone()
      response.end('done')
    })
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
    socket.on('error', () => undefined)
    socket.write([0, 1, 2].map((number) => `GET /${number} HTTP/1.1\r\nHost: x\r\n\r\n`).join(''))
    await Promise.all(works.map(({ begun }) => begun))
    works[1]?.finish() // its answer waits for the first one
    socket.resetAndDestroy()
    while (closed.length < 3) await new Promise((resolve) => setTimeout(resolve, 5))
    expect(closed.toSorted()).to.deep.equal(['/0', '/1', '/2'])
    // Whoever asks only now is told as well.
    for (const response of responses) expect(clientAbort(response).aborted).to.equal(true)
    expect(server.answering.size).to.equal(2)
    for (const work of works) work.finish()
    while (server.answering.size > 0) await new Promise((resolve) => setTimeout(resolve, 5))
    expect(await server.stop(GRACE)).to.equal(true)
  })

  it('does not wait for idle connections', async () => {
    const agent = new Agent({ keepAlive: true })
    const server = await start(async (_, response) => void response.end())
    await new Promise((resolve) =>
      get(server.url, { agent }, (response) => response.resume().on('end', resolve)),
    )
    const unused = connect(Number(new URL(server.url).port))
    unused.on('error', () => undefined)
    await once(unused, 'connect')
    // Nothing but the stop ends them before the grace does, after which it is false.
    expect(await server.stop(GRACE)).to.equal(true)
    unused.destroy()
    agent.destroy()
  })

  it('cuts off what outlasts the grace', async () => {
    const work = new Work()
    const server = await start(() => work.isDone())
    const answer = fetch(server.url).catch(() => 'cut off')
    await work.begun
    expect(await server.stop(100)).to.equal(false)
    expect(await answer).to.equal('cut off')
  })
})

describe('shutdown', () => {
  const children: ChildProcess[] = []
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL')
  })

  /** A process that says when it is asked for something and when it is told to stop, and answers once `SIGUSR2` comes. */
  async function serve() {
    const at = (path: string) => JSON.stringify(new URL(path, import.meta.url).href)
    const program = `
      import { startServer } from ${at('../../../src/http/server/server.js')}
      import { shutDownOnSignals } from ${at('../../../src/http/server/shutdown.js')}
      const server = await startServer({ host: '127.0.0.1', port: 0, maxConnections: 100, handle: async (request, response) => {
        console.log('asked')
        await new Promise((resolve) => process.once('SIGUSR2', resolve))
        response.end('committed')
      } })
      shutDownOnSignals({
        server, say: console.log, close: async () => [], flushed: async () => console.log('flushed'), limitMs: 60_000,
      })
      console.log(server.url)`
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    children.push(child)
    const closed = once(child, 'close')
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
    const says = async (words: string): Promise<void> => {
      while (!output.includes(words)) await once(child.stdout, 'data')
    }
    await says('\n')
    return { child, url: output.trim(), says, said: () => output, closed }
  }

  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    it(`${signal} finishes what is in flight, closes the rest, and exits 0`, async () => {
      const { child, url, says, said, closed } = await serve()
      const answer = fetch(url).then((response) => response.text())
      await says('asked')
      child.kill(signal)
      await says(signal)
      child.kill('SIGUSR2')
      expect(await answer).to.equal('committed')
      expect(await closed).to.deep.equal([0, null])
      expect(said()).to.contain('flushed')
    })
  }

  it('a stop while the store is gone ends with a sentence, and no stack', async () => {
    const storeDir = join(mkdtempSync(join(tmpdir(), 'gone-')), 'store')
    const child = spawn(process.execPath, [fileURLToPath(new URL('../../../src/main.js', import.meta.url))], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env['PATH'], STORE_DIR: storeDir, PORT: '0' },
    })
    children.push(child)
    let said = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece) => (said += String(piece)))
    const says = async (words: string): Promise<void> => {
      while (!said.includes(words)) await pause(20)
    }
    await says('listening')
    // The server may still be writing into the folder that is removed: moved away first, it has no place to write to.
    const away = `${dirname(storeDir)}-away`
    renameSync(dirname(storeDir), away)
    rmSync(away, { recursive: true, force: true, maxRetries: 10 })
    await says('is gone')
    const closed = once(child, 'close')
    child.kill('SIGTERM')
    expect(await closed).to.deep.equal([0, null])
    const ending = said.slice(said.indexOf('SIGTERM'))
    expect(ending)
      .to.contain('stopped')
      .and.not.match(/\n {4}at /)
  })

  // interface 3.12
  it('a server without the git program on its path starts, and commits over REST', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gitless-'))
    const env = { PATH: folder, STORE_DIR: join(folder, 'store'), PORT: '0', SVC_API_KEY: 'key' }
    const main = fileURLToPath(new URL('../../../src/main.js', import.meta.url))
    const child = spawn(process.execPath, [main], { stdio: ['ignore', 'pipe', 'inherit'], env })
    children.push(child)
    let said = ''
    child.stdout.on('data', (piece) => (said += String(piece)))
    while (!/"url":"([^"]+)"/.test(said)) await pause(20)
    const [, url = ''] = /"url":"([^"]+)"/.exec(said) ?? []
    const created = await fetch(`${url}/simple/workflows/`, {
      method: 'POST',
      headers: { authorization: 'ApiKey key', 'content-type': 'application/json' },
      body: JSON.stringify({ workflow: { slug: 'flow', data: { parameters: {} } } }),
    })
    expect(created.status, await created.clone().text()).to.equal(200)
    const closed = once(child, 'close')
    child.kill('SIGTERM')
    expect(await closed).to.deep.equal([0, null])
    rmSync(folder, { recursive: true, force: true })
  })

  it('a second signal ends it at once', async () => {
    const { child, url, says, closed } = await serve()
    const answer = fetch(url).catch(() => 'cut off')
    await says('asked')
    child.kill('SIGTERM')
    await says('SIGTERM')
    child.kill('SIGTERM')
    expect((await closed)[0]).to.equal(1)
    expect(await answer).to.equal('cut off')
  })
})

/** What is done for a request: it begins when it is waited for, and is done when the test says so. */
class Work {
  readonly begun: Promise<void>
  finish!: () => void
  #begin!: () => void
  readonly #done: Promise<void>

  constructor() {
    this.begun = new Promise((resolve) => (this.#begin = resolve))
    this.#done = new Promise((resolve) => (this.finish = resolve))
  }

  isDone(): Promise<void> {
    this.#begin()
    return this.#done
  }
}

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { type RunningServer, reachableHost, startServer } from '../../src/http/server.ts'

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
    const server = await start(async (_, response) => {
      await pause(200)
      response.end('done')
    })
    const answer = fetch(server.url)
    await pause(50)
    const stopped = server.stop(5000)
    await pause(20)
    expect(await fetch(server.url).catch(() => 'refused')).to.equal('refused')
    const response = await answer
    expect(response.headers.get('connection')).to.equal('close')
    expect(await response.text()).to.equal('done')
    expect(await stopped).to.equal(true)
  })

  it('waits for work whose client has gone', async () => {
    let committed = false
    const server = await start(async (_, response) => {
      await pause(200)
      committed = true
      response.end()
    })
    await fetch(server.url, { signal: AbortSignal.timeout(50) }).catch(() => undefined)
    expect(committed).to.equal(false)
    expect(await server.stop(5000)).to.equal(true)
    expect(committed).to.equal(true)
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
    const begin = performance.now()
    expect(await server.stop(5000)).to.equal(true)
    expect(performance.now() - begin).to.be.lessThan(1000)
    unused.destroy()
    agent.destroy()
  })

  it('cuts off what outlasts the grace', async () => {
    const server = await start(() => new Promise(() => undefined))
    const answer = fetch(server.url).catch(() => 'cut off')
    await pause(50)
    expect(await server.stop(100)).to.equal(false)
    expect(await answer).to.equal('cut off')
  })
})

describe('shutdown', () => {
  const children: ChildProcess[] = []
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL')
  })

  /** A process that serves `/slow` in `ms` and shuts down on signals. */
  async function serve(ms: number) {
    const at = (path: string) => JSON.stringify(new URL(path, import.meta.url).href)
    const program = `
      import { startServer } from ${at('../../src/http/server.js')}
      import { shutDownOnSignals } from ${at('../../src/http/shutdown.js')}
      const server = await startServer({ host: '127.0.0.1', port: 0, maxConnections: 100, handle: async (request, response) => {
        await new Promise((resolve) => setTimeout(resolve, ${ms}))
        response.end('committed')
      } })
      shutDownOnSignals({ server, say: console.error, close: () => console.log('flushed') })
      console.log(server.url)`
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    children.push(child)
    const output: string[] = []
    child.stdout.setEncoding('utf8').on('data', (text: string) => output.push(text))
    await once(child.stdout, 'data')
    return { child, url: output.join('').trim(), output, exit: once(child, 'exit') }
  }

  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    it(`${signal} finishes what is in flight, closes the rest, and exits 0`, async () => {
      const { child, url, output, exit } = await serve(300)
      const answer = fetch(url).then((response) => response.text())
      await pause(100)
      child.kill(signal)
      expect(await answer).to.equal('committed')
      expect(await exit).to.deep.equal([0, null])
      expect(output.join('')).to.contain('flushed')
    })
  }

  it('a second signal ends it at once', async () => {
    const { child, url, exit } = await serve(60_000)
    const answer = fetch(url).catch(() => 'cut off')
    await pause(100)
    child.kill('SIGTERM')
    await pause(100)
    child.kill('SIGTERM')
    expect((await exit)[0]).to.equal(1)
    expect(await answer).to.equal('cut off')
  })
})

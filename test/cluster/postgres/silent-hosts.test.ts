import { expect } from 'chai'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { Client } from 'pg'
import { Link } from '../../support/postgres/link.ts'
import { type PostgresPair, startPair } from '../../support/postgres/postgres.ts'
import { Database, MAX_CONNECT_MS } from '../../../src/cluster/postgres/database.ts'
import { needsPostgres } from '../../support/postgres/needs-postgres.ts'

describe('postgres: looking for the primary among hosts', function () {
  let pair: PostgresPair
  const ends: (() => void | Promise<void>)[] = []

  before(async function () {
    needsPostgres(this)
    pair = await startPair()
  })
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end()
  })
  after(() => pair?.stop())

  const over = (ports: readonly number[], isFenced = false): Database => {
    const database = new Database(
      ports.map((port) => `postgres://bp@127.0.0.1:${port}/postgres`),
      isFenced,
    )
    ends.push(() => database.close())
    return database
  }
  const linkTo = async (port: number): Promise<Link> => {
    const link = await Link.to(port)
    ends.push(() => link.stop())
    return link
  }

  it('one that takes connections and never answers is not waited for, and nothing of it is left at the end', async () => {
    const silent = await SilentHost.start()
    ends.push(() => silent.stop())
    const database = over([silent.port, pair.primary.port])
    expect(await portOf(database)).to.equal(pair.primary.port)
    expect(silent.open, 'it is being asked still').to.equal(1)
    await database.close()
    while (silent.open > 0) await pause(10)
  })

  it('nor is one that swallows every packet', async () => {
    const hole = await BlackHole.start()
    ends.push(() => hole.stop())
    const database = over([hole.port, pair.primary.port])
    // Somebody else who asks it, as long as anybody does.
    const other = new Client({ host: '127.0.0.1', port: hole.port, connectionTimeoutMillis: MAX_CONNECT_MS })
    const gaveUp = other.connect().then(
      () => 'connected',
      () => 'gave up',
    )
    expect(await Promise.race([portOf(database), gaveUp])).to.equal(pair.primary.port)
    expect(await gaveUp).to.equal('gave up')
  })

  describe('of two that say they are', () => {
    before(() => pair.promote())

    it('is the one that was promoted later, in whatever order they are named', async () => {
      const [old, current] = [pair.primary.port, pair.standby.port]
      for (const ports of [
        [old, current],
        [current, old],
      ])
        expect(await portOf(over(ports))).to.equal(current)
    })

    it('is the one that was replaced, where the other one is silent, until that answers after all', async () => {
      const link = await linkTo(pair.standby.port)
      link.goDark()
      const database = over([pair.primary.port, link.port])
      expect(await portOf(database)).to.equal(pair.primary.port)
      link.comeBack()
      while ((await portOf(database)) === pair.primary.port) await pause(10)
      expect(await portOf(database)).to.equal(pair.standby.port)
    })

    it('is never one that cannot commit, where that is asked for: the other one is waited for', async () => {
      const link = await linkTo(pair.standby.port)
      link.goDark()
      // Later than the others would be waited for.
      setTimeout(() => link.comeBack(), 1000)
      expect(await portOf(over([pair.primary.port, link.port], true))).to.equal(pair.standby.port)
    })
  })
})

async function portOf(database: Database): Promise<number> {
  const [row] = await database.query<{ port: string }>({ text: `select current_setting('port') as port` })
  return Number(row?.port)
}

/** A host that takes every connection and says nothing. */
class SilentHost {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  private constructor(server: Server) {
    this.#server = server
    server.on('connection', (socket) => {
      this.#sockets.add(socket)
      socket.resume()
      socket.on('error', () => undefined)
      socket.on('close', () => this.#sockets.delete(socket))
    })
  }

  static async start(): Promise<SilentHost> {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new SilentHost(server)
  }

  get port(): number {
    return portIn(this.#server)
  }

  /** How many connections to it there are. */
  get open(): number {
    return this.#sockets.size
  }

  stop(): void {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
  }
}

/** A host that answers nothing, not even that somebody wants to connect: a stopped process whose queue of connections is full. */
class BlackHole {
  readonly port: number
  readonly #process: ChildProcess
  readonly #sockets: Socket[] = []

  private constructor(process: ChildProcess, port: number) {
    this.#process = process
    this.port = port
  }

  static async start(): Promise<BlackHole> {
    const script =
      "const s = require('net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => console.log(s.address().port))"
    const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
    const [line] = (await once(child.stdout, 'data')) as [Buffer]
    child.kill('SIGSTOP')
    const hole = new BlackHole(child, Number(line.toString()))
    while (await hole.#isConnected());
    return hole
  }

  stop(): void {
    for (const socket of this.#sockets) socket.destroy()
    this.#process.kill('SIGKILL')
  }

  /** Whether one more connection is taken; one that is not stays on its way. */
  async #isConnected(): Promise<boolean> {
    const socket = connect(this.port, '127.0.0.1')
    socket.on('error', () => undefined)
    this.#sockets.push(socket)
    return Promise.race([once(socket, 'connect').then(() => true), pause(200).then(() => false)])
  }
}

function portIn(server: Server): number {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('it does not listen')
  return address.port
}

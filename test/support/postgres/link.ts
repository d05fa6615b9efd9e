import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'

/** The way from one server to one host of the database, which can be taken from it. */
export class Link {
  readonly #server: Server
  readonly #target: number
  readonly #sockets = new Set<Socket>()
  #state: 'up' | 'dark' | 'down' = 'up'

  private constructor(server: Server, target: number) {
    this.#server = server
    this.#target = target
    server.on('connection', (near) => this.#take(near))
  }

  /** Leads to a port of this machine. */
  static async to(target: number): Promise<Link> {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new Link(server, target)
  }

  get port(): number {
    const address = this.#server.address()
    if (address === null || typeof address === 'string') throw new Error('the link is closed')
    return address.port
  }

  /** Nothing comes through any more, and nobody is told: both ends stay open. What is on its way arrives when the link comes back. */
  goDark(): void {
    this.#state = 'dark'
    for (const socket of this.#sockets) socket.pause()
  }

  /** New connections get through again; what is on its way on the others stays there. */
  takeNew(): void {
    this.#state = 'up'
  }

  /** Connections are ended, and no new one is taken. */
  goDown(): void {
    this.#state = 'down'
    for (const socket of this.#sockets) socket.destroy()
  }

  comeBack(): void {
    this.#state = 'up'
    for (const socket of this.#sockets) socket.resume()
  }

  stop(): void {
    this.goDown()
    this.#server.close()
  }

  #take(near: Socket): void {
    if (this.#state === 'down') {
      near.destroy()
      return
    }
    const far = connect(this.#target, '127.0.0.1')
    this.#lead(near, far)
    this.#lead(far, near)
  }

  #lead(from: Socket, to: Socket): void {
    this.#sockets.add(from)
    from.on('data', (bytes) => to.write(bytes))
    from.on('end', () => to.end())
    from.on('error', () => undefined) // it closes, too
    from.on('close', () => {
      this.#sockets.delete(from)
      to.end()
    })
    if (this.#state === 'dark') from.pause()
  }
}

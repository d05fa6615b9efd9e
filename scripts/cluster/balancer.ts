import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'

/** How often (milliseconds) a server is asked whether it is ready, and how long it may take to say so. */
const EVERY = 500

/** Hands connections to the servers that are ready, one after the other: what HAProxy does before a real cluster. */
export class Balancer {
  readonly #server: Server
  #urls: readonly string[] = []
  #ready: readonly string[] = []
  #turn = 0
  #timer: NodeJS.Timeout | undefined

  private constructor() {
    this.#server = createServer((client) => this.#handOn(client))
  }

  /** Listens on a free port; serves nobody yet. */
  static async start(): Promise<Balancer> {
    const balancer = new Balancer()
    await new Promise<void>((resolve) => balancer.#server.listen(0, '127.0.0.1', resolve))
    return balancer
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}` // what a server that listens on a port has
  }

  /** From now on hands connections to those of these servers that are ready. */
  async serve(urls: readonly string[]): Promise<void> {
    this.#urls = urls
    await this.#look()
    this.#timer = setInterval(() => void this.#look(), EVERY)
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#server.close()
  }

  #handOn(client: Socket): void {
    const url = this.#ready[this.#turn++ % Math.max(this.#ready.length, 1)]
    if (url === undefined) return void client.destroy()
    const behind = connect(Number(new URL(url).port), '127.0.0.1')
    client.pipe(behind).pipe(client)
    client.on('error', () => behind.destroy()).on('close', () => behind.destroy())
    behind.on('error', () => client.destroy()).on('close', () => client.destroy())
  }

  async #look(): Promise<void> {
    const urls = this.#urls
    const are = await Promise.all(urls.map(isReady))
    this.#ready = urls.filter((_, at) => are[at])
  }
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/ready`, { signal: AbortSignal.timeout(EVERY) })).ok
  } catch {
    return false
  }
}

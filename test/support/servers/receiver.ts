import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

/** A request that a webhook's receiver got. */
export interface Received {
  readonly headers: IncomingHttpHeaders
  readonly text: string
  // Tests look into payloads freely.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly body: any
  readonly url: string
}

/** How a receiver answers one request: a status, nothing ever, or what a function does. */
export type Reaction = number | 'silence' | ((response: ServerResponse, request: Received) => void)

/** A real HTTP server that takes down what it is sent. */
export interface Receiver {
  readonly url: string
  readonly port: number
  readonly received: Received[]
  /** Answers the next requests so, then 204 again. */
  answerNext(...reactions: readonly Reaction[]): void
  /** Answers all requests so from now on. */
  answerAll(reaction: Reaction): void
  /** The requests, once there are so many (of those that fit); fails after half a minute. */
  waitFor(count: number, fits?: (request: Received) => boolean): Promise<Received[]>
  stop(): Promise<void>
}

/** Starts one on a free port. */
export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = []
  const reactions: Reaction[] = []
  let otherwise: Reaction = 204
  const server = createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      const text = Buffer.concat(pieces).toString('utf8')
      const got = { headers: request.headers, text, body: JSON.parse(text), url: request.url ?? '' }
      received.push(got)
      const reaction = reactions.shift() ?? otherwise
      if (typeof reaction === 'number') response.writeHead(reaction).end()
      else if (reaction !== 'silence') reaction(response, got)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // what a server that listens on a port has
  return {
    url: `http://127.0.0.1:${port}/hook`,
    port,
    received,
    answerNext: (...next) => void reactions.push(...next),
    answerAll: (reaction) => {
      otherwise = reaction
    },
    waitFor: async (count, fits = () => true) => {
      const deadline = Date.now() + 30_000
      for (;;) {
        const fitting = received.filter(fits)
        if (fitting.length >= count) return fitting
        if (Date.now() > deadline) {
          const types = received.map(({ body }) => body.type).join(', ')
          throw new Error(
            `waited for ${count} requests; ${fitting.length} of ${received.length} came: ${types}`,
          )
        }
        await pause(10)
      }
    },
    stop: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

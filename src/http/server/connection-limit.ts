import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { Refusal } from '../../errors.ts'
import { problemOf } from '../problem.ts'

/**
 * Holds a server to so many connections. One more is told so (503 with `Retry-After`) and closed; of a flood that goes on regardless,
 * what is past `SPARE` connections more is closed without a word.
 */
export class ConnectionLimit {
  readonly #most: number
  readonly #turnedAway = new WeakSet<Socket>()
  #open = 0
  #refused = 0

  constructor(server: Server, most: number) {
    this.#most = most
    server.maxConnections = most + SPARE
    server.on('drop', () => this.#refused++)
    // before the server's own, which begins to read
    server.prependListener('connection', (socket) => this.#meet(socket))
  }

  /** How many connections were refused since the start. */
  get refused(): number {
    return this.#refused
  }

  /** Whether what comes on this connection is not to be answered any more. */
  turnsAway(socket: Socket): boolean {
    return this.#turnedAway.has(socket)
  }

  #meet(socket: Socket): void {
    if (this.#open < this.#most) {
      this.#open++
      socket.once('close', () => this.#open--)
      return
    }
    this.#refused++
    this.#turnedAway.add(socket)
    socket.on('error', () => undefined)
    socket.end(ANSWER)
    // Closed at once, with something unread, it would take the answer back.
    setTimeout(() => socket.destroy(), LINGER).unref()
  }
}

/** So many connections may be open only to be refused, each so many milliseconds. */
const SPARE = 256
const LINGER = 1000

const ANSWER = (() => {
  const refusal = new Refusal(
    'overloaded',
    'The server has all the connections open that it takes. Try again in a moment.',
  )
  const body = JSON.stringify(problemOf(refusal))
  return [
    'HTTP/1.1 503 Service Unavailable',
    'Connection: close',
    'Retry-After: 1',
    'Content-Type: application/problem+json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n')
})()

import type { Server } from 'node:http'
import { Refusal } from '../../errors.ts'
import { Semaphore } from '../../scheduling/semaphore.ts'
import { problemOf } from '../problem.ts'

/**
 * Holds a server to so many connections, and answers how many it has refused. One more is told so (503 with `Retry-After`) and ended; of
 * a flood that goes on regardless, node closes what is past `SPARE` connections more without a word. What comes on a connection that
 * was ended is not to be answered.
 */
export function limitConnections(server: Server, most: number): () => number {
  const connections = new Semaphore(most)
  let refused = 0
  server.maxConnections = most + SPARE
  server.on('drop', () => refused++)
  // before the server's own, which begins to read
  server.prependListener('connection', (socket) => {
    const release = connections.tryAcquire()
    if (release) return socket.once('close', release)
    refused++
    socket.on('error', () => undefined)
    socket.end(ANSWER)
    // Closed at once, with something unread, it would take the answer back.
    setTimeout(() => socket.destroy(), LINGER).unref()
  })
  return () => refused
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

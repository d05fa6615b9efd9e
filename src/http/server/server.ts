import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { CannotStart, Refusal } from '../../errors.ts'
import { Semaphore } from '../../base/scheduling.ts'
import { problemOf } from '../problem.ts'

export interface ServerOptions {
  readonly host: string
  /** 0 takes any free port. */
  readonly port: number
  /** Maximum number of connections; more are refused. */
  readonly maxConnections: number
  /** Answers requests, unless `answerWith` sets the function later. */
  readonly handle?: Handle
  readonly patience?: Patience
}

/** Answers a request. The promise settles when all work for the request is done. */
export type Handle = (request: IncomingMessage, response: ServerResponse) => Promise<void>

/** How long a client may take, in milliseconds. */
export interface Patience {
  /** To send the headers of a request. */
  readonly headers: number
  /** To send a whole request: it may be a large upload on a slow line. */
  readonly request: number
  /** To take the next bytes of its answer, or to ask for something again. */
  readonly stalled: number
  /** Milliseconds between two checks for late requests. */
  readonly look: number
}

export interface RunningServer {
  /** The address in fact listened on, `http://host:port`, as a client on this machine can use it. */
  readonly url: string
  /** The requests that are being worked on. */
  readonly answering: { readonly size: number }
  /** The requests that are being worked on, as `POST /path`; at most a hundred. */
  readonly unfinished: readonly string[]
  /** How many connections were refused since the start. */
  readonly refused: number
  /** Call it before the first request can arrive, if `startServer` got no `answer`. */
  answerWith(handle: Handle): void
  /**
   * Stops accepting, lets every running request finish (even if its client has gone), closes the connections and resolves. `true` if all that
   * happened within `graceMs`; `false` if the rest was cut off.
   */
  stop(graceMs: number): Promise<boolean>
}

/** Listens. Rejects with `CannotStart` if the address cannot be had. */
export async function startServer({
  host,
  port,
  maxConnections,
  handle = notYet,
  patience = PATIENCE,
}: ServerOptions): Promise<RunningServer> {
  const inFlight = new InFlight(handle)
  const server = createServer({
    headersTimeout: patience.headers,
    requestTimeout: patience.request,
    connectionsCheckingInterval: patience.look,
    keepAliveTimeout: 0, // Node would use two timers for each request. `timeout` also closes idle connections.
  })
  const refused = limitConnections(server, maxConnections)
  server.on('request', inFlight.answer)
  server.on('connection', (socket) => socket.on('close', () => inFlight.gone(socket)))
  // With a listener, node leaves the connection open: an answer may begin late, but a client must not stop reading.
  server.timeout = patience.stalled
  server.on('timeout', (socket) => {
    if (socket.writableLength > 0 || !inFlight.isOn(socket)) socket.destroy()
  })
  await listen(server, host, port)
  // An address of a server that listens on TCP is always this object.
  const { port: actualPort } = server.address() as AddressInfo
  return {
    url: `http://${reachableHost(host)}:${actualPort}`,
    answering: inFlight.answering,
    get unfinished() {
      return inFlight.requests
    },
    get refused() {
      return refused()
    },
    answerWith: (it) => {
      inFlight.handle = it
    },
    stop: (graceMs) => stop(server, inFlight, graceMs),
  }
}

const notYet: Handle = () =>
  Promise.reject(new Error('a request came before the server was told what answers'))

/** The host under which a client on this machine reaches a server that listens on `host`, ready for a URL. */
export function reachableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}

/**
 * Seconds for which an idle connection is kept: longer than load balancers keep theirs (60), so that none is closed at the moment of its next use.
 */
export const IDLE_SECONDS = 65

const PATIENCE: Patience = {
  headers: 20_000,
  request: 300_000,
  // A little longer than clients are told, because they may use it until then.
  stalled: (IDLE_SECONDS + 1) * 1000,
  look: 5000,
}

/**
 * The maximum number of connections that wait to be accepted, as in the kernel (net.core.somaxconn). The kernel drops more, and resets those that
 * have sent something. With node's 511 a busy process gets there soon. `limitConnections` decides whether there are too many.
 */
const BACKLOG = 65_535

const MOST_LISTENERS = 20
const MOST_NAMED = 100

/** The requests that are being answered, until the work is done and the answer was sent, or the client has gone. */
class InFlight {
  readonly answering = new Set<Answering>()
  handle: Handle
  #draining = false
  #onEmpty: (() => void) | undefined

  constructor(handle: Handle) {
    this.handle = handle
  }

  get requests(): readonly string[] {
    return [...this.answering]
      .slice(0, MOST_NAMED)
      .map(({ response: { req } }) => `${req.method} ${req.url?.split('?')[0]?.slice(0, 200)}`)
  }

  /** Whether a request of this connection is being worked on. */
  isOn(socket: Socket): boolean {
    return [...this.answering].some(({ response }) => response.socket === socket)
  }

  /** Listens for requests. A request on an ended connection gets no answer. */
  readonly answer = (request: IncomingMessage, response: ServerResponse): void => {
    if (request.socket.writableEnded) return
    if (this.#draining) response.shouldKeepAlive = false
    const answering = { response, isClosed: false }
    this.answering.add(answering)
    // This function, the app, a route and each stream of an answer listen for the end of the response.
    response.setMaxListeners(MOST_LISTENERS)
    let open = 2
    const ended = (): void => {
      if (--open > 0) return
      this.answering.delete(answering)
      if (this.answering.size === 0) this.#onEmpty?.()
    }
    response.once('close', () => {
      answering.isClosed = true
      ended()
    })
    this.handle(request, response).then(ended, ended)
  }

  /** Resolves when no request is left; tells the clients to close their connections. */
  drain(): Promise<void> {
    this.#draining = true
    for (const { response } of this.answering) if (!response.headersSent) response.shouldKeepAlive = false
    if (this.answering.size === 0) return Promise.resolve()
    return new Promise((resolve) => (this.#onEmpty = resolve))
  }

  /**
   * Ends the answers that wait for an earlier answer of their connection, which is closed. Node before 24 reports that only to the current answer,
   * so the others would never end. Node 24 reports it to all of them before this turn is over.
   */
  gone(socket: Socket): void {
    const waiting = [...this.answering].filter(({ response }) => response.req.socket === socket)
    if (waiting.length === 0) return
    setImmediate(() => {
      for (const { response, isClosed } of waiting) {
        if (isClosed || response.socket !== null || response.closed) continue
        response.destroy()
        response.emit('close')
      }
    })
  }
}

/** A request that is being answered. */
interface Answering {
  readonly response: ServerResponse
  /** Whether its client was told to close the connection. */
  isClosed: boolean
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(new CannotStart(whyNotListening(error, host, port))),
    )
    server.listen({ port, host, backlog: BACKLOG }, resolve)
  })
}

function whyNotListening({ code, message }: NodeJS.ErrnoException, host: string, port: number): string {
  const place = `Cannot listen on ${host} port ${port}`
  if (code === 'EADDRINUSE')
    return `${place}: something else does already. Stop it, or set PORT to another port.`
  if (code === 'EACCES') return `${place}: the system does not allow it. Set PORT to one above 1023.`
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return `${place}: this machine has no such address. Set HOST.`
  return `${place}: ${message}`
}

async function stop(server: Server, inFlight: InFlight, graceMs: number): Promise<boolean> {
  // Node counts a connection as idle once its answer is written, even while the client still reads. Such connections are closed with the others.
  server.closeIdleConnections = () => undefined
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  const finished = inFlight.drain().then(() => {
    // The remaining connections have had their answers, or have sent no request.
    server.closeAllConnections()
    return closed
  })
  const inTime = await Promise.race([finished.then(() => true), afterwards(graceMs)])
  if (!inTime) server.closeAllConnections()
  return inTime
}

function afterwards(ms: number): Promise<false> {
  return new Promise((resolve) => setTimeout(resolve, ms, false).unref())
}

/**
 * Limits the number of connections, and answers how many were refused. A connection above the limit gets 503 with `Retry-After` and is closed.
 * Above `SPARE` more, node closes connections without an answer.
 */
function limitConnections(server: Server, most: number): () => number {
  const connections = new Semaphore(most)
  let refused = 0
  server.maxConnections = most + SPARE
  server.on('drop', () => refused++)
  // This listener comes before the server's own, which begins to read.
  server.prependListener('connection', (socket) => {
    const release = connections.tryAcquire()
    if (release) return socket.once('close', release)
    refused++
    socket.on('error', () => undefined)
    socket.end(ANSWER)
    // If it were closed at once, with unread bytes, the answer would be lost.
    setTimeout(() => socket.destroy(), LINGER).unref()
  })
  return () => refused
}

/** The maximum number of connections that are open only to be refused, and the milliseconds for which each stays open. */
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

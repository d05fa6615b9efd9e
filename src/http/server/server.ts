import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { CannotStart, Refusal } from '../../errors.ts'
import { Semaphore } from '../../base/scheduling.ts'
import { problemOf } from '../problem.ts'

export interface ServerOptions {
  readonly host: string
  /** 0 takes any free port. */
  readonly port: number
  /** Most connections; what comes past them is refused. */
  readonly maxConnections: number
  /** What answers requests, unless `answerWith` says it later. */
  readonly handle?: Handle
  readonly patience?: Patience
}

/** Answers a request; its promise settles when all that the request set going is done. */
export type Handle = (request: IncomingMessage, response: ServerResponse) => Promise<void>

/** How long a client may take, in milliseconds. */
export interface Patience {
  /** To send the headers of a request. */
  readonly headers: number
  /** To send a whole request: it may be a large upload on a slow line. */
  readonly request: number
  /** To take the next bytes of its answer, or to ask for something again. */
  readonly stalled: number
  /** How often it is looked at who is late with a request. */
  readonly look: number
}

export interface RunningServer {
  /** The address in fact listened on, `http://host:port`, as a client on this machine can use it. */
  readonly url: string
  /** The requests that are being worked on. */
  readonly answering: { readonly size: number }
  /** Those that are being worked on, each as `POST /path`; a hundred at most. */
  readonly unfinished: readonly string[]
  /** How many connections were refused since the start. */
  readonly refused: number
  /** To be called before a request can have come, where `startServer` was not told what answers. */
  answerWith(handle: Handle): void
  /**
   * Stops accepting, lets every request in flight finish (also one whose client has gone), closes the connections and
   * resolves. `true` if all of that happened within `graceMs`; `false` if the rest was cut off.
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
    keepAliveTimeout: 0, // node would make two timers for each request; `timeout` closes idle connections, too
  })
  const refused = limitConnections(server, maxConnections)
  server.on('request', inFlight.answer)
  server.on('connection', (socket) => socket.on('close', () => inFlight.gone(socket)))
  // With a listener, closing is up to us: an answer may take its time to begin, and a client may not to read it.
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

/** So many seconds an idle connection is kept: longer than load balancers keep theirs (60), so that none is closed just as it is used. */
export const IDLE_SECONDS = 65

const PATIENCE: Patience = {
  headers: 20_000,
  request: 300_000,
  // a little more than what clients are told, who may use it until then
  stalled: (IDLE_SECONDS + 1) * 1000,
  look: 5000,
}

/**
 * Connections that wait to be accepted: as many as the kernel keeps (net.core.somaxconn). Those past them it drops, and resets if they
 * have sent something: a busy process gets there soon with node's 511. Whether there are too many is told by `limitConnections`.
 */
const BACKLOG = 65_535

const MOST_LISTENERS = 20
const MOST_NAMED = 100

/** The requests that are being answered: until the work is done and the answer has left, or its client has gone. */
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

  /** Listens for requests. What comes on a connection that was ended is not answered. */
  readonly answer = (request: IncomingMessage, response: ServerResponse): void => {
    if (request.socket.writableEnded) return
    if (this.#draining) response.shouldKeepAlive = false
    const answering = { response, isClosed: false }
    this.answering.add(answering)
    // This, the door, a route and every stream of an answer listen for its end.
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

  /** Resolves when none is left; tells the clients of those that are to close their connections. */
  drain(): Promise<void> {
    this.#draining = true
    for (const { response } of this.answering) if (!response.headersSent) response.shouldKeepAlive = false
    if (this.answering.size === 0) return Promise.resolve()
    return new Promise((resolve) => (this.#onEmpty = resolve))
  }

  /**
   * Ends the answers that waited for others of their connection, which is closed: node before 24 tells that only to the one that has its
   * turn, and the others would be in flight for ever. Node 24 tells them all before this turn is over.
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
  /** Whether it was told that it is. */
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
  // node takes a connection for idle once its answer is written, also while the client is still reading. Idle ones go with the others.
  server.closeIdleConnections = () => undefined
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  const finished = inFlight.drain().then(() => {
    // What is still connected has had its answers, or never asked.
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
 * Holds a server to so many connections, and answers how many it has refused. One more is told so (503 with `Retry-After`) and ended; of
 * a flood that goes on regardless, node closes what is past `SPARE` connections more without a word.
 */
function limitConnections(server: Server, most: number): () => number {
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

import { type IncomingMessage, request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { OutgoingFailure } from './outgoing-failure.ts'
import type { OutgoingPolicy } from './outgoing-policy.ts'
import type { LookupFunction } from 'node:net'
import { isPublicAddress } from './public-address.ts'

/** A request to a URL that a user chose and that `outgoingUrlProblem` finds nothing wrong with. */
export interface SentRequest {
  readonly url: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Gives the request up, also while the answer is read. */
  readonly signal: AbortSignal | undefined
}

/** An answer whose body is still on its way. */
export interface BegunAnswer {
  readonly response: IncomingMessage
  /**
   * The body as it comes. Throws what kept it from coming to its end, and the signal's reason once that is aborted. Whoever leaves the
   * loop closes the connection.
   */
  readonly pieces: AsyncIterable<Buffer>
}

/**
 * Sends a request on a connection of its own to an address that was checked; resolves once the answer begins. It always settles: an
 * answer that leaves HTTP (101) and a connection that closes without an answer are failures.
 */
export function sendRequest(sent: SentRequest, policy: OutgoingPolicy): Promise<BegunAnswer> {
  const { url, method, signal } = sent
  const start = new URL(url).protocol === 'https:' ? httpsRequest : httpRequest
  // Bytes, since a text would be written in one piece with the headers, which would be in UTF-8 then.
  const body = Buffer.from(sent.body)
  const headers = { ...sent.headers, 'content-length': String(body.length) }
  let failure: unknown
  return new Promise((resolve, reject) => {
    // No agent: a kept connection would be to an address that was checked for somebody else.
    start(url, {
      method,
      headers,
      agent: false,
      lookup: guardedLookup(policy),
      ...(signal ? { signal } : {}),
    })
      .on('response', (response) => resolve({ response, pieces: piecesOf(response, signal, () => failure) }))
      .on('upgrade', (_, socket) => {
        socket.destroy()
        reject(new OutgoingFailure('The server wants to leave HTTP (101), which was not asked for.'))
      })
      .on('error', (error) => {
        failure = error
        reject(error)
      })
      // Of a request that was answered or failed this says nothing new.
      .on('close', () => reject(new OutgoingFailure('The connection was closed before there was an answer.')))
      .end(body)
  })
}

async function* piecesOf(
  response: IncomingMessage,
  signal: AbortSignal | undefined,
  failure: () => unknown,
): AsyncGenerator<Buffer, void, undefined> {
  yield* response as AsyncIterable<Buffer>
  // A body whose length nobody said ends with its connection, and node takes every end for that one.
  signal?.throwIfAborted()
  const broken = failure()
  if (broken !== undefined) throw broken
}

/**
 * Answers a socket that wants to connect with addresses it may connect to, or with why it may not. The connection goes to one of
 * those that were checked: a name that leads elsewhere a moment later changes nothing.
 */
function guardedLookup({ allowPrivate, resolve }: OutgoingPolicy): LookupFunction {
  return (hostname, { all, family }, callback) => {
    resolve(hostname).then(
      (found) => {
        const addresses = found.filter((it) => !family || it.family === family)
        const [first] = addresses
        if (!first) return callback(new OutgoingFailure(`${hostname} has no address.`), '', 0)
        // One address that is not public makes the name suspect: of two, a client tries one after the other.
        const inside = allowPrivate ? undefined : addresses.find(({ address }) => !isPublicAddress(address))
        if (inside) {
          const sentence = `${hostname} has the address ${inside.address}, which is not of the public internet.`
          return callback(new OutgoingFailure(sentence, 'address'), '', 0)
        }
        if (all) callback(null, addresses)
        else callback(null, first.address, first.family)
      },
      (error: Error) => callback(error, '', 0),
    )
  }
}

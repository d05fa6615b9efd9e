import { type IncomingMessage, request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { OutgoingFailure } from './outgoing-failure.ts'
import type { OutgoingPolicy } from './outgoing-policy.ts'
import type { LookupFunction } from 'node:net'
import { isPublicAddress } from './public-address.ts'

/** A request to a URL chosen by a user and accepted by `outgoingUrlProblem`. */
export interface SentRequest {
  readonly url: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Aborts the request, also while the answer is read. */
  readonly signal: AbortSignal | undefined
}

/** An answer whose body is still arriving. */
export interface BegunAnswer {
  readonly response: IncomingMessage
  /**
   * The body, piece by piece. Throws if it is incomplete, and the signal's reason once that is aborted. Leaving the loop closes the
   * connection.
   */
  readonly pieces: AsyncIterable<Buffer>
}

/**
 * Sends a request on a new connection to a checked address; resolves when the answer begins. It always settles: a switch of protocols (101),
 * or a connection closed without an answer, is a failure.
 */
export function sendRequest(sent: SentRequest, policy: OutgoingPolicy): Promise<BegunAnswer> {
  const { url, method, signal } = sent
  const start = new URL(url).protocol === 'https:' ? httpsRequest : httpRequest
  // Sent as bytes, because node would write a string together with the headers, and encode these as UTF-8.
  const body = Buffer.from(sent.body)
  const headers = { ...sent.headers, 'content-length': String(body.length) }
  let failure: unknown
  return new Promise((resolve, reject) => {
    // No agent, because a kept connection may go to an address that was checked for another request.
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
      // Has no effect after an answer or an error.
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
  // A body without a declared length ends with the connection, and node treats every end of the connection as complete.
  signal?.throwIfAborted()
  const broken = failure()
  if (broken !== undefined) throw broken
}

/**
 * A socket's lookup that answers allowed addresses or an error. The connection goes to a checked address, so a later change of the name has
 * no effect.
 */
function guardedLookup({ allowPrivate, resolve }: OutgoingPolicy): LookupFunction {
  return (hostname, { all, family }, callback) => {
    resolve(hostname).then(
      (found) => {
        const addresses = found.filter((it) => !family || it.family === family)
        const [first] = addresses
        if (!first) return callback(new OutgoingFailure(`${hostname} has no address.`), '', 0)
        // One private address rejects the name, because a client tries several addresses in turn.
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

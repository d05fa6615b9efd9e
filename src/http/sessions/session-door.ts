import type { IncomingHttpHeaders } from 'node:http'
import type { OpenSession, Sessions } from '../../access/sessions/sessions.ts'
import { Refusal } from '../../errors.ts'
import { bringsKey } from '../middleware/sent-key.ts'
import { foreignOrigin, isFromOwnPage } from './own-origin.ts'
import { sessionTokenIn } from './session-cookie.ts'

/** A session and the token that it goes by. */
export interface SignedIn extends OpenSession {
  readonly token: string
}

/** As much of a request as says who sends it. */
interface AskedBy {
  readonly method: string
  readonly req: { readonly headers: IncomingHttpHeaders }
}

/** How browsers come in: with the cookie of a session in place of a key. */
export class SessionDoor {
  readonly #sessions: Pick<Sessions, 'find'>
  readonly #publicUrl: string | undefined

  /** `publicUrl` is the address that browsers know, where it is set. */
  constructor(sessions: Pick<Sessions, 'find'>, publicUrl: string | undefined) {
    this.#sessions = sessions
    this.#publicUrl = publicUrl
  }

  /**
   * The session of a request's cookie; undefined if it has none, or the header of a key, which counts then. Refuses with
   * `unknown_session` where the session is over, and with `foreign_origin` what another page may have started: whatever writes has to come from
   * a page of this server, and what reads from no page of another one.
   */
  sessionOf({ method, req: { headers } }: AskedBy): SignedIn | undefined {
    if (headers.cookie === undefined || bringsKey(headers)) return undefined
    const token = this.tokenIn(headers)
    if (token === undefined) return undefined
    const session = this.#sessions.find(token)
    if (!session)
      throw new Refusal(
        'unknown_session',
        'You were signed in, and that is over. Sign in again, or send an API key.',
      )
    const { 'sec-fetch-site': site } = headers
    const isRead = method === 'GET' || method === 'HEAD'
    const isOwn = isRead
      ? site === undefined || site === 'same-origin' || site === 'none' // none: somebody typed the address
      : isFromOwnPage(headers, this.#publicUrl) === true
    if (!isOwn) throw foreignOrigin(headers)
    return { ...session, token }
  }

  /** Refuses to sign a browser in that a page of another server sends: its user would work in somebody else's name. */
  assertMaySignIn({ req: { headers } }: AskedBy): void {
    if (isFromOwnPage(headers, this.#publicUrl) === false) throw foreignOrigin(headers)
  }

  /** The token that a request brings, whether it is good or not. */
  tokenIn({ cookie }: IncomingHttpHeaders): string | undefined {
    return sessionTokenIn(cookie, this.#publicUrl?.startsWith('https:') ?? false)
  }
}

import { type KeyRing, type Caller, principalOf, type OpenSession, type Sessions } from '../../access/keys.ts'
import { Refusal } from '../../errors.ts'
import { SIGN_IN, refusedKey, type SessionDoor } from '../request.ts'
import {
  anyKey,
  type Endpoint,
  endpoint,
  type EndpointResponse,
  keylessEndpoint,
} from '../routing/endpoint.ts'
import { envelope } from '../schemas/spellings.ts'
import { single } from '../schemas/record-schemas.ts'
import { linkRecord, newLink, newSession, sessionRecord } from '../schemas/key.ts'
import { isOverHttps } from '../sessions/own-origin.ts'
import { signInLink } from '../sessions/sign-in-link.ts'
import { cookieOf, cookieRemoved } from '../sessions/session-cookie.ts'

/** The dependencies of the session endpoints. */
export interface SessionPlace {
  readonly keys: Pick<KeyRing, 'callerOf' | 'liveKey'>
  readonly sessions: Sessions
  readonly door: SessionDoor
  /** The server's public address, if set. */
  readonly publicUrl: string | undefined
}

/** Sign-in, sign-out, and the current session (interface 14.4). */
export function sessionEndpoints({ keys, sessions, door, publicUrl }: SessionPlace): Endpoint[] {
  const common = { tag: 'sessions', ...anyKey, output: single('session', sessionRecord) } as const
  const current = '/sessions/current'
  return [
    keylessEndpoint({
      ...common,
      method: 'POST',
      path: SIGN_IN,
      summary:
        'Sign a browser in with an API key, or with the token of a link: the answer sets a cookie that is good for 12 hours',
      input: envelope({ session: { names: ['session'], schema: newSession, required: true } }),
      example: { session: { key: 'svc_…' } },
      callerIn: async ({ session: { key, token } }) => {
        if (token !== undefined) return sessions.useLink(token)
        const caller = keys.callerOf(key ?? '')
        if (!caller) throw refusedKey()
        return caller
      },
      run: async ({ caller, headers }) => {
        const before = door.tokenIn(headers)
        const begun = await sessions.begin(caller)
        // The new cookie replaces the old one, so nothing could end the old session later.
        if (before !== undefined) await sessions.end(before)
        return answer(begun.session, cookieOf(begun.token, isOverHttps(headers, publicUrl)))
      },
    }),
    endpoint({
      ...common,
      method: 'POST',
      path: '/sessions/links',
      summary:
        "Make a link that signs a browser in once, within a quarter of an hour: with the caller's own key, or with another one (scope admin)",
      optionalBody: true,
      input: envelope({ link: { names: ['link'], schema: newLink } }),
      output: single('link', linkRecord),
      example: { link: {} },
      run: async ({ caller, input: { link = {} }, headers }) => {
        const scheme = isOverHttps(headers, publicUrl) ? 'https' : 'http'
        const url = publicUrl ?? `${scheme}://${headers.host}`
        const made = await signInLink(sessions, callerOfLink(keys, caller, link.key), url)
        return { body: { count: 1, link: made }, headers: { 'Cache-Control': 'no-store' } }
      },
    }),
    endpoint({
      ...common,
      method: 'GET',
      path: current,
      summary: 'Who is signed in, what the key may do, and until when',
      run: ({ session }) => answer(session ?? nobody()),
    }),
    endpoint({
      ...common,
      method: 'DELETE',
      path: current,
      summary: 'Sign out',
      run: async ({ session = nobody(), headers }) => {
        await sessions.end(session.token)
        return answer(session, cookieRemoved(headers.cookie))
      },
    }),
  ]
}

/**
 * The caller that a link signs in. Refuses a key other than the caller's without the scope admin, and a key
 * that is not live.
 */
function callerOfLink({ liveKey }: Pick<KeyRing, 'liveKey'>, caller: Caller, id = caller.key.id): Caller {
  if (id === caller.key.id) return caller
  if (!caller.key.scopes.includes('admin'))
    throw new Refusal(
      'missing_scope',
      `A link for another key than your own needs the scope admin. Leave "key" out, or send a key that has it.`,
    )
  const found = liveKey(caller.project, id)
  if (found) return found
  throw new Refusal(
    'key_not_found',
    `There is no live API key with the id ${id} in this project. GET /keys lists them.`,
  )
}

function answer({ caller, createdAt, expiresAt }: OpenSession, cookie?: string): EndpointResponse {
  const session = {
    principal: principalOf(caller.key),
    scopes: caller.key.scopes,
    project: caller.project,
    created_at: createdAt,
    expires_at: expiresAt,
  }
  return {
    body: { count: 1, session },
    headers: { 'Cache-Control': 'no-store', ...(cookie === undefined ? {} : { 'Set-Cookie': cookie }) },
  }
}

function nobody(): never {
  throw new Refusal(
    'session_not_found',
    'This request comes with an API key and without a session. POST /sessions begins one.',
  )
}

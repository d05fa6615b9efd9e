import type { ParameterizedContext } from 'koa'
import type { Caller } from '../access/caller.ts'
import type { SignedIn } from './sessions/session-door.ts'

/** `ctx.state`: what is known of a request by now. */
export interface RequestState {
  /** The `X-Request-Id` of the answer and of the log line. */
  requestId: string
  /** Whose key it was sent with; nobody's before `authenticate`. */
  caller?: Caller
  /** The session that it came with, where it was not the key itself. */
  session?: SignedIn
  /** Set by the router for requests that only read, or run something: that leaves a trace. */
  isRead?: boolean
  /** The pattern of the route that answers. */
  route?: string
  /** How who has no key is asked for one (`WWW-Authenticate`), where not as everywhere. */
  challenge?: string
  /** The client prints what it gets on a terminal: an error is its sentence there, and no document. */
  isTerminal?: boolean
}

/** A request whose caller is known, and its answer. */
export type AuthenticatedContext = ParameterizedContext<RequestState & { readonly caller: Caller }>

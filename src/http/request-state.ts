import type { ParameterizedContext } from 'koa'
import type { Caller } from '../access/caller.ts'

/** What the door knows of a request once it is let in: `ctx.state` of every route. */
export interface RequestState {
  /** The `X-Request-Id` of the answer and of the log line. */
  readonly requestId: string
  readonly caller: Caller
  /** Set by the router for requests that only read, or run something: that leaves a trace. */
  isRead?: boolean
  /** The length of an answer that was written out whole. */
  bytes?: number
  /** The pattern of the route that answers. */
  route?: string
}

/** `ctx.state` at the door itself, where the caller may not be known yet. */
export interface DoorState {
  requestId: string
  caller?: Caller
  isRead?: boolean
  bytes?: number
  route?: string
  /** How who has no key is asked for one (`WWW-Authenticate`), where not as everywhere. */
  challenge?: string
  /** The client prints what it gets on a terminal: an error is its sentence there, and no document. */
  isTerminal?: boolean
}

/** Is told of a request once its answer has left or its client has gone, `ms` milliseconds after its headers were there. */
export type Watcher = (ctx: ParameterizedContext<DoorState>, ms: number) => void

/** Answers the requests that are its own; undefined for all others. */
export type Door = (ctx: ParameterizedContext<DoorState>) => Promise<void> | undefined

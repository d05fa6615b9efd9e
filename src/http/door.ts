import type { ParameterizedContext } from 'koa'
import type { DoorState } from './request-state.ts'

/** Is told of a request once its answer has left or its client has gone, `ms` milliseconds after its headers were there. */
export type Watcher = (ctx: ParameterizedContext<DoorState>, ms: number) => void

/** Answers the requests that are its own; undefined for all others. */
export type Door = (ctx: ParameterizedContext<DoorState>) => Promise<void> | undefined

import type { ServerResponse } from 'node:http'
import { subscribe } from 'node:diagnostics_channel'
import { CLOCK_HEADER } from './clock-header.ts'

/**
 * Loaded into a server before its own code (`node --import`): every request begins in a second of its own, so that a date with seconds tells
 * which request made it, and lists by time have one order. Only `new Date()` is moved. `Date.now()`, timers and times of files stay
 * the machine's, because deadlines and caches use them.
 */
const AHEAD_MS = 2 * 24 * 3600 * 1000

let told = Math.ceil((Date.now() + AHEAD_MS) / 1000) * 1000
let toldAt = Date.now()

const now = (): number => told + (Date.now() - toldAt)

globalThis.Date = new Proxy(Date, {
  construct: (target, args: unknown[], self) =>
    Reflect.construct(target, args.length > 0 ? args : [now()], self) as object,
})

subscribe('http.server.request.start', (message) => {
  told = Math.floor(now() / 1000) * 1000 + 1000
  toldAt = Date.now()
  const { response } = message as { readonly response: ServerResponse } // documented so
  response.setHeader(CLOCK_HEADER, String(told))
})

import type { Handler } from '../handler.ts'
import { hookHandler } from './hook-handler.ts'
import { webhookTestHandler } from './webhook-test-handler.ts'

/** The handlers that ask somebody else's server, by the key of their uri (contract/handlers 2.7, 2.9), with their time limits. */
export const hookHandlers: ReadonlyMap<string, Handler> = new Map([
  ['hook', hookHandler(30_000)],
  ['auto_webhook_test', webhookTestHandler(10_000)],
])

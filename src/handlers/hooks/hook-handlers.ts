import type { Handler } from '../handler.ts'
import { autoWebhookTest } from './auto-webhook-test.ts'
import { hook } from './hook.ts'

/** The handlers that ask somebody else's server (contract/handlers 2.7, 2.9), by the key of their uri, with their time limits. */
export const hookHandlers: ReadonlyMap<string, Handler> = new Map([
  ['hook', hook(30_000)],
  ['auto_webhook_test', autoWebhookTest(10_000)],
])

import type { Handler } from './handler.ts'
import { hookHandlers } from './hooks/hook-handlers.ts'
import { mockHandlers } from './mock/mock-handlers.ts'

/** Every handler that this service runs, by the key of its uri (contract/handlers 2). */
export const builtInHandlers: ReadonlyMap<string, Handler> = new Map([
  ...hookHandlers,
  ...mockHandlers,
])

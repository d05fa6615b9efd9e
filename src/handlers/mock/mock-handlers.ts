import type { Handler } from '../handler.ts'
import { feedback } from './feedback.ts'
import { mock } from './mock.ts'

/** The handlers that stand for something else (contract/handlers 2.9), by the key of their uri. */
export const mockHandlers: ReadonlyMap<string, Handler> = new Map([
  ['mock', mock],
  ['feedback', feedback],
])

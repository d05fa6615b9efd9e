import type { Handler } from '../handler.ts'
import { feedbackHandler } from './feedback-handler.ts'
import { mockHandler } from './mock-handler.ts'

/** The handlers that stand for something else, by the key of their uri (contract/handlers 2.9). */
export const mockHandlers: ReadonlyMap<string, Handler> = new Map([
  ['mock', mockHandler],
  ['feedback', feedbackHandler],
])

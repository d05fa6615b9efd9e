import type { Handler } from '../handler.ts'
import { chat } from './chat.ts'
import { completion } from './completion.ts'
import { llm } from './llm.ts'

/** The handlers that send prompts to language models (contract/handlers 2.10, 2.11), by the key of their uri: `svc:builtin:<key>:v0`. */
export const promptHandlers: ReadonlyMap<string, Handler> = new Map<string, Handler>([
  ['completion', completion],
  ['chat', chat],
  ['llm', llm],
])

import { codeHandlers } from './code/code-handlers.ts'
import { evaluatorHandlers } from './evaluators/evaluator-handlers.ts'
import type { Handler } from './handler.ts'
import { hookHandlers } from './hooks/hook-handlers.ts'
import { autoAiCritique } from './judge/auto-ai-critique.ts'
import { mockHandlers } from './mock/mock-handlers.ts'
import { promptHandlers } from './prompts/prompt-handlers.ts'

/** Every handler that this service runs, by the key of its uri (contract/handlers 2). */
export const builtInHandlers: ReadonlyMap<string, Handler> = new Map([
  ...codeHandlers,
  ...evaluatorHandlers,
  ...hookHandlers,
  ...mockHandlers,
  ...promptHandlers,
  ['auto_ai_critique', autoAiCritique],
])

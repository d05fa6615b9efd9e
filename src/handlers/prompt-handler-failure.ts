import { PromptProblem } from '../prompts/prompt-problem.ts'
import type { TemplateFailure } from '../prompts/template-format.ts'
import { HandlerFailure, invalidParameter } from './handler-failure.ts'

/**
 * What is wrong with a prompt as the run's failure: a prompt that is none is an invalid parameter where the problem says
 * (`prompt.llm_config.temperature`), one that cannot be rendered is `prompt-formatting-error`; both 400 (contract/handlers 2.1, 2.10).
 */
export function promptHandlerFailureOf(failure: PromptProblem | TemplateFailure): HandlerFailure {
  if (failure instanceof PromptProblem) return invalidParameter(failure.path, failure.expected, failure.got)
  return new HandlerFailure('v0:workflows:prompt-formatting-error', failure.message)
}

import { ModelFailure } from '../../models/models.ts'
import { PromptProblem } from '../../prompts/prompt-problem.ts'
import { TemplateFailure } from '../../prompts/template-format.ts'
import { HandlerFailure, invalidParameter, missingParameter } from '../handler-failure.ts'
import { handlerFailureOf } from '../model-handler-failure.ts'

/**
 * What went wrong with a judge as the run's failure (contract/handlers 2.8): a message that is none, a template, whose message begins
 * with where it is, or the model. Anything else comes back as it is.
 */
export function judgeFailureOf(error: unknown): unknown {
  if (error instanceof ModelFailure) return handlerFailureOf(error)
  if (error instanceof TemplateFailure) {
    return new HandlerFailure('v0:workflows:prompt-formatting-error', error.message)
  }
  if (!(error instanceof PromptProblem)) return error
  return error.got === undefined
    ? missingParameter(error.path)
    : invalidParameter(error.path, error.expected, error.got)
}

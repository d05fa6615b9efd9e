import { ModelFailure } from '../models/models.ts'
import { PromptProblem } from '../templates/prompt-object.ts'
import { TemplateFailure } from '../templates/template-format.ts'
import { failureOfModel } from './failure-of-model.ts'
import {
  HandlerFailure,
  invalidInput,
  invalidParameter,
  missingInput,
  missingParameter,
} from './handler-failure.ts'

/**
 * Converts the failure of a prompt to the run's: a problem in the prompt, in its templates (the message
 * begins with `before`), or of its model. Other errors are returned unchanged.
 */
export function failureOfPrompt(error: unknown, before = 'Error in '): unknown {
  if (error instanceof ModelFailure) return failureOfModel(error)
  if (error instanceof PromptProblem) return failureOfProblem(error)
  if (!(error instanceof TemplateFailure)) return error
  return new HandlerFailure('v0:workflows:prompt-formatting-error', before + error.message)
}

function failureOfProblem({ path, expected, got }: PromptProblem): HandlerFailure {
  const isInput = path.startsWith('inputs.')
  if (got === undefined) return isInput ? missingInput(path) : missingParameter(path)
  return isInput ? invalidInput(path, expected, got) : invalidParameter(path, expected, got)
}

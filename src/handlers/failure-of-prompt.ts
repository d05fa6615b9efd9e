import { ModelFailure } from '../models/models.ts'
import { PromptProblem } from '../prompts/prompt-object.ts'
import { TemplateFailure } from '../prompts/templates/template-format.ts'
import { failureOfModel } from './failure-of-model.ts'
import {
  HandlerFailure,
  invalidInput,
  invalidParameter,
  missingInput,
  missingParameter,
} from './handler-failure.ts'

/**
 * What went wrong with a prompt as the run's failure: what is written in it, what its templates ask for (`before` stands before where),
 * or what its model did. Anything else comes back as it is.
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

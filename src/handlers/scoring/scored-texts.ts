import type { HandlerRequest } from '../handler.ts'
import { isCaseSensitive } from './is-case-sensitive.ts'
import { expectedText } from './needed-answer.ts'
import { neededOutputs } from './needed-outputs.ts'
import { textOf } from './text-of.ts'

/** The texts of outputs and answer that a measure of likeness compares, in that order; lower case where case does not count. */
export function scoredTexts(request: HandlerRequest): [outputs: string, answer: string] {
  const { value: answer } = expectedText(request)
  const texts: [string, string] = [textOf(neededOutputs(request)), textOf(answer)]
  if (isCaseSensitive(request.parameters)) return texts
  return [texts[0].toLowerCase(), texts[1].toLowerCase()]
}

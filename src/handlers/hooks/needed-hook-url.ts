import type { Json } from '../../json/json.ts'
import { parameterProblem } from '../handler-failure.ts'
import { filledText } from '../needed-text.ts'
import { hookUrlProblem } from './hook-url-problem.ts'

/**
 * The URL of a hook; `name` is what failures call it. Throws `missing-parameter`, or `invalid-parameter` for one that no hook may be
 * called at (`hookUrlProblem`).
 */
export function neededHookUrl(value: Json | undefined, name: string, allowPrivate: boolean): string {
  const url = filledText(value, name)
  const problem = hookUrlProblem(url, allowPrivate)
  if (problem === undefined) return url
  throw parameterProblem(name, `The URL ${problem}.`)
}

import type { Json } from '../../json/json.ts'
import { outgoingUrlProblem } from '../../outgoing/outgoing-url-problem.ts'
import { parameterProblem } from '../handler-failure.ts'
import { filledText } from '../needed-text.ts'

/**
 * The URL of a hook (contract/handlers 2.9); `name` is what failures call it. Throws `missing-parameter`, or `invalid-parameter` for one
 * that no hook may be called at. Hooks are sent secrets and data of users, so they need https, unless the configuration allows private
 * addresses, where there may be no certificates.
 */
export function neededHookUrl(value: Json | undefined, name: string, allowPrivate: boolean): string {
  const url = filledText(value, name)
  const problem = outgoingUrlProblem(url, { allowPrivate })
  if (problem !== undefined) throw parameterProblem(name, `The URL ${problem}.`)
  if (allowPrivate || new URL(url).protocol === 'https:') return url
  throw parameterProblem(name, 'The URL is not an https URL; what is sent there could be read on the way.')
}

import type { Json } from '../../json/json.ts'
import { outgoingUrlProblem } from '../../outgoing/outgoing-url-problem.ts'
import { parameterProblem } from '../handler-failure.ts'
import { filledText } from '../needed-text.ts'

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

/**
 * Why no hook may be called at this URL, as the end of a sentence that begins with it (interface 11.15); undefined if one may.
 * Hooks are sent secrets and data of users, so they need https, unless the configuration allows private addresses, where there
 * may be no certificates.
 */
export function hookUrlProblem(url: string, allowPrivate: boolean): string | undefined {
  const everywhere = outgoingUrlProblem(url, { allowPrivate: true })
  if (everywhere !== undefined || allowPrivate) return everywhere
  const problem = outgoingUrlProblem(url, { allowPrivate }) ?? insecurity(url)
  return problem && `${problem}, or have the server started with HOOK_ALLOW_PRIVATE=true`
}

function insecurity(url: string): string | undefined {
  if (new URL(url).protocol === 'https:') return undefined
  return 'is not an https URL, and what is sent there could be read on the way; send one with https'
}

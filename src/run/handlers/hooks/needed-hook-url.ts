import type { Json } from '../../../base/json.ts'
import { outgoingUrlProblem } from '../../../feeds/outgoing.ts'
import { parameterProblem } from '../handler-failure.ts'
import { filledText } from '../needed-text.ts'

/**
 * The URL of a hook; `name` is its name in failures. Throws `missing-parameter`, or `invalid-parameter` for a
 * URL that is not allowed (`hookUrlProblem`).
 */
export function neededHookUrl(value: Json | undefined, name: string, allowPrivate: boolean): string {
  const url = filledText(value, name)
  const problem = hookUrlProblem(url, allowPrivate)
  if (problem === undefined) return url
  throw parameterProblem(name, `The URL ${problem}.`)
}

/**
 * Why a hook must not be called at this URL, as the end of a sentence that begins with it (interface 11.15);
 * undefined if it may. Hooks receive secrets and user data, so they need https, unless the configuration
 * allows private addresses, which may lack certificates.
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

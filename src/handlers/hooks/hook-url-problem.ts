import { outgoingUrlProblem } from '../../outgoing/outgoing-url-problem.ts'

/**
 * Why no hook may be called at this URL, as the end of a sentence that begins with it (contract/handlers 2.9); undefined if one may.
 * Hooks are sent secrets and data of users, so they need https, unless the configuration allows private addresses, where there
 * may be no certificates.
 */
export function hookUrlProblem(url: string, allowPrivate: boolean): string | undefined {
  const problem = outgoingUrlProblem(url, { allowPrivate })
  if (problem !== undefined || allowPrivate || new URL(url).protocol === 'https:') return problem
  return 'is not an https URL; what is sent there could be read on the way'
}

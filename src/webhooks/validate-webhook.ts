import { invalid } from '../errors.ts'
import { outgoingUrlProblem } from '../outgoing/outgoing-url-problem.ts'
import type { ProjectWebhooks } from './project-webhooks.ts'
import type { Webhook } from './webhook.ts'

/** Refuses a URL that nothing may be sent to, and families that there are not. */
export function validateWebhook(
  { registry, settings }: ProjectWebhooks,
  { url, filters }: Pick<Webhook, 'url' | 'filters'>,
): void {
  const problem = outgoingUrlProblem(url, settings.policy)
  if (problem !== undefined)
    throw invalid(['body', 'webhook', 'url'], `${JSON.stringify(url)} ${problem}.`, 'invalid_url')
  const known = registry.families.map(({ folder }) => folder)
  const unknown = filters.families?.find((it) => !known.includes(it))
  if (unknown === undefined) return
  const sentence = `${JSON.stringify(unknown)} is no family: use some of ${known.join(', ')}.`
  throw invalid(['body', 'webhook', 'filters', 'families'], sentence, 'invalid_family')
}

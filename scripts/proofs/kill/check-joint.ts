import { ask } from './ask.ts'
import type { Ledger } from './ledger.ts'

/**
 * Whether every commit that was to be deployed in the same write is in its variant's log and in its environment's, or in neither,
 * answered or not. Answers a sentence for each that is there in part.
 */
export async function checkJoint(url: string, { joint }: Ledger): Promise<string[]> {
  const logs = new Map<string, Promise<ReadonlySet<string>>>()
  const logOf = (name: string, read: () => Promise<ReadonlySet<string>>): Promise<ReadonlySet<string>> => {
    const log = logs.get(name) ?? read()
    logs.set(name, log)
    return log
  }
  const problems: string[] = []
  for (const [message, { variant, environment }] of joint) {
    // The environment first: what is deployed there by then has been committed.
    const deployed = (await logOf(environment, () => environmentLog(url, environment))).has(message)
    const committed = (await logOf(variant, () => variantLog(url, variant))).has(message)
    if (deployed !== committed)
      problems.push(
        `"${message}" is ${committed ? 'committed, and not deployed' : 'deployed, and not committed'}`,
      )
  }
  return problems
}

async function variantLog(url: string, variant: string): Promise<ReadonlySet<string>> {
  const { workflow_revisions: log } = await ask<{ workflow_revisions: readonly Logged[] }>(
    url,
    'POST',
    '/workflows/revisions/log',
    { workflow: { workflow_variant_id: variant } },
  )
  return messagesOf(log)
}

async function environmentLog(url: string, slug: string): Promise<ReadonlySet<string>> {
  const { environment_revisions: revisions } = await ask<{ environment_revisions: readonly Logged[] }>(
    url,
    'POST',
    '/environments/revisions/query',
    { environment_refs: [{ slug }] },
  )
  return messagesOf(revisions)
}

function messagesOf(log: readonly Logged[]): ReadonlySet<string> {
  return new Set(log.map(({ message }) => message ?? ''))
}

interface Logged {
  readonly message?: string | null
}

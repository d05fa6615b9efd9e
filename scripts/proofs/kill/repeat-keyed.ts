import { setTimeout as pause } from 'node:timers/promises'
import { ask } from './ask.ts'
import type { JointCommit, Ledger } from './ledger.ts'

/** How long (milliseconds) a key may be held by a server that died with it: its lease lasts ten seconds. */
const PATIENCE = 60_000

/**
 * Sends each keyed commit of a load again, those too that were not answered, to a server that knows of them only what all servers share. Answers a
 * sentence for each that was answered otherwise before, or that is there more than once.
 */
export async function repeatKeyed(url: string, { joint, deployments }: Ledger): Promise<string[]> {
  const problems: string[] = []
  for (const [message, commit] of joint) {
    const id = await repeat(url, message, commit)
    const before = deployments.get(message)?.revision
    if (before !== undefined && before !== id)
      problems.push(`"${message}" was revision ${before}, and is ${id} when it is sent again`)
  }
  for (const variant of new Set([...joint.values()].map((commit) => commit.variant))) {
    const messages = await messagesOf(url, variant)
    for (const [message, commit] of joint) {
      const count = messages.filter((it) => it === message).length
      if (commit.variant === variant && count !== 1)
        problems.push(`"${message}" was sent again with its key, and is committed ${count} times`)
    }
  }
  return problems
}

/** The id of the revision that it is answered with. */
async function repeat(url: string, message: string, { body }: JointCommit): Promise<string> {
  const deadline = Date.now() + PATIENCE
  for (;;) {
    try {
      const { workflow_revision: revision } = await ask<{ workflow_revision: { id: string } }>(
        url,
        'POST',
        '/workflows/revisions/commit',
        body,
        message,
      )
      return revision.id
    } catch (error) {
      if (Date.now() > deadline || !String(error).includes('answered 503')) throw error
      await pause(500)
    }
  }
}

async function messagesOf(url: string, variant: string): Promise<readonly (string | null | undefined)[]> {
  const { workflow_revisions: log } = await ask<{
    workflow_revisions: readonly { readonly message?: string | null }[]
  }>(url, 'POST', '/workflows/revisions/log', { workflow: { workflow_variant_id: variant } })
  return log.map(({ message }) => message)
}

import { isDeepStrictEqual } from 'node:util'
import { ask } from './ask.ts'
import type { Ledger } from './ledger.ts'

interface Revision {
  readonly id: string
  readonly version: number
  readonly data: unknown
}

/** So many requests are under way at once. */
const AT_ONCE = 16

/**
 * Asks the service for everything in the ledger: each revision by its id and its chosen slug, with its version and payload;
 * variants and artifacts by their slugs; names. Answers a sentence for everything that is not as it was acknowledged.
 */
export async function checkLedger(url: string, ledger: Ledger): Promise<string[]> {
  const checks = [
    ...[...ledger.revisions].map(([id, { version, data, slug }]) => async () => {
      const { workflow_revision: found } = await ask<{ workflow_revision: Revision }>(
        url,
        'GET',
        `/workflows/revisions/${id}`,
      )
      if (!isDeepStrictEqual(found.data, data)) return `revision ${id} has another payload`
      if (found.version !== version) return `revision ${id} was version ${version}, is ${found.version}`
      if (slug !== undefined) return expectId(await retrieve(url, { workflow_revision_ref: { slug } }), id)
      return undefined
    }),
    ...[...ledger.variants].map(([id, slug]) => async () => {
      const { workflow_variant: found } = await ask<{ workflow_variant: { slug: string } }>(
        url,
        'GET',
        `/workflows/variants/${id}`,
      )
      // A fork without its branch would have no revision to retrieve.
      await retrieve(url, { workflow_variant_ref: { id } })
      return found.slug === slug ? undefined : `variant ${id} was "${slug}", is "${found.slug}"`
    }),
    ...[...ledger.artifacts].map(([id, slug]) => async () => {
      const { workflow: found } = await ask<{ workflow: { slug: string; name?: string } }>(
        url,
        'GET',
        `/workflows/${id}`,
      )
      const name = ledger.names.get(id)
      if (found.slug !== slug) return `artifact ${id} was "${slug}", is "${found.slug}"`
      if (name && found.name !== name.answered && found.name !== name.asked)
        return `artifact ${id} was named ${name.answered}, is ${found.name}`
      return undefined
    }),
  ]
  const problems: string[] = []
  const work = async (): Promise<void> => {
    for (let check = checks.pop(); check; check = checks.pop()) {
      const problem = await check().catch(String)
      if (problem !== undefined) problems.push(problem)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return problems
}

async function retrieve(url: string, reference: object): Promise<string> {
  const { workflow_revision: found } = await ask<{ workflow_revision: Revision }>(
    url,
    'POST',
    '/workflows/revisions/retrieve',
    reference,
  )
  return found.id
}

function expectId(found: string, expected: string): string | undefined {
  return found === expected ? undefined : `the slug of revision ${expected} names ${found}`
}

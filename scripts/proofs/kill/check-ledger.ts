import { isDeepStrictEqual } from 'node:util'
import { ask } from './ask.ts'
import type { Ledger } from './ledger.ts'

interface Revision {
  readonly id: string
  readonly version: number
  readonly data: unknown
}

interface TestsetRevision {
  readonly version: number
  readonly data: { readonly testcases: readonly { readonly data: { readonly value: string } }[] }
}

/** So many requests are under way at once. */
const AT_ONCE = 16

/**
 * Asks the service for everything in the ledger: each revision by its id and its chosen slug, with its version and payload;
 * variants and artifacts by their slugs; names; what is archived; rows; deployments in their environments' logs. Answers a sentence for everything that is not as it was acknowledged.
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
    ...[...ledger.archived].map(([id, { answered, asked }]) => async () => {
      const { workflow: found } = await ask<{ workflow: { deleted_at?: string } }>(
        url,
        'GET',
        `/workflows/${id}`,
      )
      const isArchived = found.deleted_at !== undefined
      if (isArchived === answered || isArchived === asked) return undefined
      return `artifact ${id} was ${answered ? 'archived' : 'active'}, and is not`
    }),
    ...[...ledger.rows].map(([id, { version, values }]) => async () => {
      const { testset_revision: found } = await ask<{ testset_revision: TestsetRevision }>(
        url,
        'GET',
        `/testsets/revisions/${id}`,
      )
      if (found.version !== version)
        return `testset revision ${id} was version ${version}, is ${found.version}`
      const there = new Set(found.data.testcases.map(({ data }) => data.value))
      const lost = values.filter((value) => !there.has(value))
      return lost.length === 0 ? undefined : `testset revision ${id} has lost ${lost.length} rows`
    }),
    ...environmentsOf(ledger).map((environment) => async () => {
      const { environment_revision: latest } = await ask<{ environment_revision: { variant_id: string } }>(
        url,
        'POST',
        '/environments/revisions/retrieve',
        { environment_ref: { slug: environment } },
      )
      const { environment_revisions: log } = await ask<{ environment_revisions: { message?: string }[] }>(
        url,
        'POST',
        '/environments/revisions/log',
        { environment: { environment_variant_id: latest.variant_id } },
      )
      const messages = log.map(({ message }) => message)
      const own = [...ledger.deployments].filter(([, it]) => it.environment === environment)
      const bad = own.filter(([message]) => messages.filter((it) => it === message).length !== 1)
      return bad.length === 0 ? undefined : `${environment} has lost or doubled ${bad.length} deployments`
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

/** Those that something was deployed to; another one has no revision to ask for. */
function environmentsOf({ deployments }: Ledger): string[] {
  return [...new Set([...deployments.values()].map(({ environment }) => environment))]
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

import type { Answer } from '../../api/call.ts'

/** A revision of an environment, as its log has it. */
export type EnvironmentRevision = Answer<'POST /environments/revisions/log'>['environment_revisions'][number]

/** What a key of an environment leads to. */
export interface KeyTarget {
  readonly artifact: string
  readonly variant: string | undefined
  /** Its slug. */
  readonly revision: string | undefined
  readonly version: number | undefined
  /** Prompts, evaluators and workflows have a page, and can be deployed. */
  readonly isWorkflow: boolean
}

/** What a deployment did to one key. */
export interface KeyChange {
  readonly key: string
  readonly from: KeyTarget | undefined
  readonly to: KeyTarget | undefined
}

/** What each revision changed of the one before it: the last one counts from nothing, and is left out while there are older ones. */
export function changesOf(
  revisions: readonly EnvironmentRevision[],
  hasMore: boolean,
): readonly { readonly revision: EnvironmentRevision; readonly changes: readonly KeyChange[] }[] {
  return revisions.slice(0, hasMore ? -1 : undefined).map((revision, at) => ({
    revision,
    changes: differences(pinsOf(revisions[at + 1]?.data), pinsOf(revision.data)),
  }))
}

function differences(
  before: ReadonlyMap<string, KeyTarget>,
  after: ReadonlyMap<string, KeyTarget>,
): readonly KeyChange[] {
  return [...new Set([...after.keys(), ...before.keys()])]
    .map((key) => ({ key, from: before.get(key), to: after.get(key) }))
    .filter(({ from, to }) => JSON.stringify(from) !== JSON.stringify(to))
}

/** The pins of an environment's payload: `references`, by key, each under the names of the surface that deployed it. */
export function pinsOf(data: unknown): ReadonlyMap<string, KeyTarget> {
  const references = membersOf((data as { readonly references?: unknown } | undefined)?.references)
  return new Map(references.map(([key, group]) => [key, pinnedOf(key, group)]))
}

function pinnedOf(key: string, group: unknown): KeyTarget {
  const named = membersOf(group)
  const find = (end: RegExp): Reference | undefined =>
    named.find(([name]) => end.test(name))?.[1] as Reference | undefined
  const revision = find(/_revision$/)
  const artifact = find(/^[a-z]+$/)
  return {
    artifact: artifact?.slug ?? key.replace(/\.revision$/, ''),
    variant: find(/_variant$/)?.slug,
    revision: revision?.slug,
    version: revision?.version === undefined ? undefined : Number(revision.version),
    isWorkflow: named.some(([name]) => /^(?:workflow|application|evaluator)/.test(name)),
  }
}

interface Reference {
  readonly slug?: string
  readonly version?: number | string
}

function membersOf(value: unknown): readonly [string, unknown][] {
  return typeof value === 'object' && value !== null ? Object.entries(value) : []
}

import type { SpanReference } from '../traces/span.ts'
import type { Reference } from '../versioning/references.ts'
import type { RevisionPlace } from '../versioning/revision.ts'
import type { FoundRunnable } from './find-runnable.ts'
import type { InvocationRequest } from './invocation-request.ts'

/**
 * What a trace is about (interface 4.2, contract/handlers 5.1): the workflow, its variant and revision as `workflow…` and as whatever
 * else its roles make it, the environment it was found through, and what the request names beside them.
 */
export function* traceReferences(
  { references }: InvocationRequest,
  { stored, inline, through }: FoundRunnable,
): Generator<readonly [string, SpanReference]> {
  if (references) for (const [name, reference] of references) yield [name, sent(reference)]
  if (inline && (inline.id ?? inline.slug) !== undefined) yield ['workflow_revision', sent(inline)]
  if (through) yield* ofRevision('environment', through.environment)
  if (!stored) return
  const flags = stored.artifact.record.flags ?? {}
  const roles = ROLES.filter((role) => flags[`is_${role}`] === true)
  for (const role of ['workflow', ...roles]) yield* ofRevision(role, stored)
}

/** Roles under whose names clients look for traces, beside `workflow`. */
const ROLES = ['application', 'evaluator', 'snippet']

function* ofRevision(
  name: string,
  { artifact, variant, id, slug, version }: RevisionPlace & { readonly id: string; readonly slug: string },
): Generator<readonly [string, SpanReference]> {
  yield [name, { id: artifact.id, slug: artifact.slug }]
  yield [`${name}_variant`, { id: variant.id, slug: variant.slug }]
  yield [`${name}_revision`, { id, slug, version: String(version) }]
}

function sent({ id, slug, version }: Reference): SpanReference {
  return { id, slug, version: version === undefined ? undefined : String(version) }
}

import type { SpanReference } from '../traces/span.ts'
import type { Reference } from '../versioning/reference.ts'
import type { Revision } from '../versioning/revisions/revision.ts'
import type { FoundRunnable } from './find-runnable.ts'
import type { InvocationRequest } from './invocation-request.ts'

/**
 * What a trace is about (interface 12.1, 12.8): the workflow, its variant and revision as `workflow…` and as whatever
 * else its roles make it, the environment it was found through, and what the request names beside them.
 */
export function traceReferences(
  { references }: InvocationRequest,
  { stored, inline, through }: FoundRunnable,
  type: VersionType = 'number',
): ReadonlyMap<string, SpanReference> {
  const own = stored ? storedReferences(stored, type) : NONE
  const isNamed = inline && (inline.id ?? inline.slug) !== undefined
  if (!references && !isNamed && !through) return own
  const named = new Map<string, SpanReference>()
  if (references) for (const [name, reference] of references) named.set(name, sent(reference, type))
  if (isNamed) named.set('workflow_revision', sent(inline, type))
  if (through) addRevision(named, 'environment', through.environment, type)
  for (const [name, reference] of own) named.set(name, reference)
  return named
}

type VersionType = 'number' | 'string'

function asType(version: number, type: VersionType): number | string {
  return type === 'string' ? String(version) : version
}

const NONE: ReadonlyMap<string, SpanReference> = new Map()

const known = new WeakMap<Revision, ReadonlyMap<string, SpanReference>>()

/** What every run of a revision refers to; the same map each time, so that what is made of it need not be made again. */
function storedReferences(revision: Revision, type: VersionType): ReadonlyMap<string, SpanReference> {
  const before = known.get(revision)
  if (before) return before
  const flags = revision.artifact.record.flags ?? {}
  const references = new Map<string, SpanReference>()
  for (const role of ['workflow', ...ROLES.filter((it) => flags[`is_${it}`] === true)])
    addRevision(references, role, revision, type)
  known.set(revision, references)
  return references
}

/** Roles under whose names clients look for traces, beside `workflow`. */
const ROLES = ['application', 'evaluator', 'snippet']

function addRevision(
  references: Map<string, SpanReference>,
  name: string,
  { artifact, variant, id, slug, version }: Revision,
  type: VersionType,
): void {
  references
    .set(name, { id: artifact.id, slug: artifact.slug })
    .set(`${name}_variant`, { id: variant.id, slug: variant.slug })
    .set(`${name}_revision`, { id, slug, version: asType(version, type) })
}

function sent({ id, slug, version }: Reference, type: VersionType): SpanReference {
  return { id, slug, version: version === undefined ? undefined : asType(version, type) }
}

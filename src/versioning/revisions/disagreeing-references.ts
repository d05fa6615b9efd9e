import { Refusal } from '../../errors.ts'
import { findVariant } from '../artifacts/artifact-view.ts'
import { environmentRevision, pinsAt } from '../environments/environments.ts'
import { referencesTo } from '../environments/pin.ts'
import { objectUuid } from '../ids.ts'
import type { Reference, References } from '../reference.ts'
import type { Registry } from '../registry.ts'
import { resolveArtifact, resolveVariant } from './references.ts'
import { resolveReference } from './resolve-reference.ts'
import type { RevisionLocation } from './revision.ts'
import { isHeldBy } from './revision.ts'

/** A reference of a request that was not followed, and that names something else than what was found. */
export interface Disagreement {
  /** Which of the references it is … */
  readonly level: 'artifact' | 'variant' | 'revision' | 'environment'
  /** … and what of it does not match. */
  readonly field: 'id' | 'slug' | 'version'
  readonly value: string | number
  /** The same of what was found, where it has that. */
  readonly found?: string | number
  /** A clause that says what it names instead. */
  readonly why: string
}

/** References of which the most specific one was followed. */
export interface FollowedReferences extends References {
  readonly environment?: References | undefined
  readonly key?: string | undefined
}

/**
 * The references that a request brought beside the one that was followed, which exist and do not hold what was found (decision 40, interface 5.3).
 * Those that say where a slug or a version is to be looked for were followed, too.
 */
export async function disagreementsWith(
  registry: Registry,
  { artifact, variant, revision, environment, key }: FollowedReferences,
  place: RevisionLocation,
): Promise<readonly Disagreement[]> {
  const followed = revision ?? variant
  const asked = [
    revision && ofRevision(registry, revision, place),
    // The variant beside a slug or a version says where it is looked for.
    variant && (revision?.id ?? variant.id) !== undefined && ofVariant(registry, variant, artifact, place),
    artifact && (followed || environment) && ofArtifact(registry, artifact, place),
    artifact && environment && !followed && ofDeployedVersion(artifact, place),
    environment && followed && ofEnvironment(registry, environment, key, place),
  ]
  return (await Promise.all(asked)).flatMap((it) => it || [])
}

/** The artifact beside an environment chooses what is deployed, whatever version it says. */
function ofDeployedVersion({ version }: Reference, place: RevisionLocation): Disagreement[] {
  if (version === undefined || version === place.version) return []
  const why = 'that is not what is deployed there'
  return [{ level: 'artifact', field: 'version', value: version, found: place.version, why }]
}

async function ofRevision(
  registry: Registry,
  { id, slug, version }: Reference,
  place: RevisionLocation,
): Promise<Disagreement[]> {
  if (id === undefined || (slug === undefined && version === undefined)) return []
  if (version !== undefined && version !== place.version)
    return [
      {
        level: 'revision',
        field: 'version',
        value: version,
        found: place.version,
        why: 'that is another one',
      },
    ]
  if (slug === undefined) return []
  const { artifact } = place
  // By itself it is a revision's own slug, beside a version it may be the variant's.
  for (const revision of version === undefined ? [{ slug }] : [{ slug }, { slug, version }]) {
    const named = { artifact: { id: artifact.id }, revision }
    const other = await unlessMissing(resolveReference(registry, artifact.family, named))
    if (other?.oid === place.oid) return []
  }
  return [{ level: 'revision', field: 'slug', value: slug, why: 'it has no such slug' }]
}

async function ofVariant(
  registry: Registry,
  variant: Reference,
  scope: Reference | undefined,
  place: RevisionLocation,
): Promise<Disagreement[]> {
  const { artifact } = place
  const { id, slug } = variant
  const holds = async (name: string): Promise<boolean> => {
    const own = findVariant(artifact, name)
    return own !== undefined && (own.slug === place.variant.slug || (await isHeldBy(place, own)))
  }
  if (slug !== undefined && !(await holds(slug))) {
    const other =
      id === undefined
        ? await unlessMissing(resolveVariant(registry, artifact.family, { slug }, scope))
        : undefined
    // Beside an id the slug is only compared.
    if (other || id !== undefined)
      return [{ level: 'variant', field: 'slug', value: slug, found: place.variant.slug, why: NOT_HELD }]
  }
  if (id === undefined || id === place.variant.id) return []
  const other = await unlessMissing(resolveVariant(registry, artifact.family, { id }))
  if (!other || (other.artifact.id === artifact.id && (await isHeldBy(place, other.variant)))) return []
  return [{ level: 'variant', field: 'id', value: id, found: place.variant.id, why: NOT_HELD }]
}

const NOT_HELD = 'that variant does not hold it'

async function ofArtifact(
  registry: Registry,
  { id, slug }: Reference,
  { artifact }: RevisionLocation,
): Promise<Disagreement[]> {
  const field = id === undefined ? 'slug' : 'id'
  if (id !== undefined && id !== artifact.id) {
    const other = await unlessMissing(resolveArtifact(registry, artifact.family, { id }))
    return other
      ? [{ level: 'artifact', field, value: id, found: artifact.id, why: `that is "${other.slug}"` }]
      : []
  }
  if (slug === undefined || slug === artifact.slug) return []
  const other = await unlessMissing(resolveArtifact(registry, artifact.family, { slug }))
  return other || id !== undefined
    ? [{ level: 'artifact', field: 'slug', value: slug, found: artifact.slug, why: 'that is another one' }]
    : []
}

/** Whether an environment runs what was found, under a key or any. */
async function ofEnvironment(
  registry: Registry,
  environment: References,
  key: string | undefined,
  place: RevisionLocation,
): Promise<Disagreement[]> {
  const reference = environment.revision ?? environment.variant ?? environment.artifact ?? {}
  const { id, slug, version } = reference
  const at = await unlessMissing(environmentRevision(registry, environment).then((it) => ({ it })))
  if (!at) return []
  const { artifact, oid } = place
  const revisionId = objectUuid(oid, artifact.digits)
  const pins = at.it ? await pinsAt(registry, at.it) : []
  for (const pin of pins) {
    if (key !== undefined && pin.key !== key) continue
    const target = referencesTo(artifact.family, pin)
    if (target?.revision?.id !== undefined) {
      if (target.revision.id === revisionId) return []
    } else if (target && isOf(target, place)) {
      const pinned = await unlessMissing(resolveReference(registry, artifact.family, target))
      if (pinned?.oid === oid && pinned.artifact.id === artifact.id) return []
    }
  }
  const field = id !== undefined ? 'id' : slug !== undefined ? 'slug' : 'version'
  return [
    { level: 'environment', field, value: id ?? slug ?? version ?? '', why: 'that runs something else' },
  ]
}

/** Whether a pin that says no revision's id may be one of the artifact's: the others need not be looked up. */
function isOf({ artifact, variant, revision }: References, place: RevisionLocation): boolean {
  if (artifact?.id !== undefined) return artifact.id === place.artifact.id
  if (artifact?.slug !== undefined) return artifact.slug === place.artifact.slug
  const id = variant?.id
  return id === undefined ? (variant ?? revision) !== undefined : id.endsWith(place.artifact.digits)
}

/** What is asked for; undefined where it does not exist. */
async function unlessMissing<T>(finding: Promise<T>): Promise<T | undefined> {
  try {
    return await finding
  } catch (error) {
    if (error instanceof Refusal && MISSING.test(error.code)) return undefined
    throw error
  }
}

const MISSING = /_not_found$|^incomplete_reference$/

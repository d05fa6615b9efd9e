import { yieldToEventLoop } from '../../base/scheduling.ts'
import { Refusal } from '../../errors.ts'
import { HelpfulRefusal } from '../../base/suggestions.ts'
import { findVariant } from '../artifacts/artifact-view.ts'
import { matchesFlags } from '../artifacts/filters.ts'
import { environmentRevision, pinsAt } from '../environments/environments.ts'
import { defaultKey, referencesTo } from '../environments/pin.ts'
import { resolvePinned } from '../environments/pinned-revision.ts'
import type { Family } from '../payload/family.ts'
import { objectUuid } from '../store/ids.ts'
import type { Pin, Reference, References } from '../store/reference.ts'
import type { Registry } from '../store/registry.ts'
import {
  artifactById,
  inDefaultVariant,
  incomplete,
  resolveArtifact,
  resolveReference,
  resolveVariant,
} from './references.ts'
import { isHeldBy, type RevisionLocation } from './revision.ts'

const PINS_BETWEEN_YIELDS = 50

/** What a retrieve may name: things of its family, and an environment in which one of them is deployed. */
export interface RetrieveReferences extends References {
  /** The environment, its variant, or a revision of it, which is an older deployment. */
  readonly environment?: References | undefined
  /** Under which key it is deployed; the artifact's default one if that is named instead. */
  readonly key?: string | undefined
}

/** A revision, and the deployment it was found through. */
export interface RetrievedRevision extends RevisionLocation {
  readonly through?: Deployment | undefined
  /** References beside the one that was followed that name something else; absent where none does. */
  readonly disagreeing?: readonly Disagreement[]
}

/** What an environment's revision holds under a key. */
export interface Deployment {
  readonly key: string
  readonly environment: RevisionLocation
}

/** Through which surface it is asked: its singular, and the flags that its artifacts have. */
export interface AskedThrough {
  readonly singular: string
  readonly fixedFlags: Readonly<Record<string, boolean>>
}

/**
 * The revision that references name, most specific first: revision, variant, environment, artifact (interface 5.3).
 * Beside an environment, `key` or the artifact names what is deployed there, whichever surface deployed it; alone it means the
 * only deployment that is one of the surface's artifacts, or was made through it. References to something else that
 * does not contain it are answered beside it. Refuses as resolveReference does, and with `environment_not_found` or `deployment_not_found`.
 */
export async function retrieveRevision(
  registry: Registry,
  family: Family,
  references: RetrieveReferences,
  surface: AskedThrough,
): Promise<RetrievedRevision> {
  const { artifact, revision, variant, environment, key } = references
  if (artifact && !revision && !variant && !environment && key === undefined)
    return inDefaultVariant(registry, family, artifact, artifact.version)
  const place = await placeNamed(registry, family, references, surface)
  const disagreeing = await disagreementsWith(registry, references, place)
  return disagreeing.length > 0 ? { ...place, disagreeing } : place
}

async function placeNamed(
  registry: Registry,
  family: Family,
  references: RetrieveReferences,
  surface: AskedThrough,
): Promise<RetrievedRevision> {
  const { environment, key, artifact, variant, revision } = references
  if (!environment && key !== undefined) {
    throw new Refusal(
      'incomplete_reference',
      `key "${key}" names a deployment of an environment; send environment_ref beside it.`,
    )
  }
  if (!environment && !artifact && !variant && !revision && family !== registry.environments) {
    throw new Refusal(
      'incomplete_reference',
      `Nothing is referred to. Send one of ${surface.singular}_revision_ref, ${surface.singular}_variant_ref, ` +
        `environment_ref or ${surface.singular}_ref with an id or a slug.`,
    )
  }
  if (!environment || revision || variant) return resolveReference(registry, family, references)
  const place = await environmentRevision(registry, environment)
  if (!place) throw nothingDeployed(environment, artifact === undefined && key === undefined)
  const pin = await pinNamed(registry, family, references, surface, place)
  const target = referencesTo(family, pin)
  if (!target) {
    throw notDeployed(
      place,
      `${shownKey(pin.key)} as ${[...pin.references.keys()].join(', ')}, which is no ${family.name}`,
    )
  }
  const found = await deployedRevision(registry, family, target, pin, place)
  return { through: { key: pin.key, environment: place }, ...found }
}

/** The revision a pin refers to. One that points at nothing is no deployment, and says why. */
async function deployedRevision(
  registry: Registry,
  family: Family,
  target: References,
  { key }: Pin,
  place: RevisionLocation,
): Promise<RevisionLocation> {
  try {
    return await resolvePinned(registry, family, target)
  } catch (error) {
    if (!(error instanceof Refusal) || !error.code.endsWith('_not_found')) throw error
    throw notDeployed(place, `${shownKey(key)}, which points at nothing: ${error.message}`)
  }
}

async function pinNamed(
  registry: Registry,
  family: Family,
  { key, artifact }: RetrieveReferences,
  surface: AskedThrough,
  place: RevisionLocation,
): Promise<Pin> {
  const pins = await pinsAt(place)
  if (key === undefined && !artifact) return onlyPin(registry, family, surface, place, pins)
  const slug = artifact?.slug ?? (artifact?.id && (await artifactById(registry, family, artifact.id)).slug)
  const wanted = key ?? (slug === undefined ? undefined : defaultKey(slug))
  if (wanted === undefined) throw incomplete(`${surface.singular}_ref`, 'an id or a slug')
  const pin = pins.find((it) => it.key === wanted)
  if (pin) return pin
  const keys = pins.length === 0 ? 'Nothing is deployed there.' : `Its keys are ${shownKeys(pins)}.`
  throw new HelpfulRefusal('deployment_not_found', {
    family: family.name,
    sentenceOf: () => notDeployed(place, `nothing under ${shownKey(wanted)}`).message,
    help: () => Promise.resolve({ sentence: keys }),
  })
}

/** The first keys of pins, as a sentence shows them. */
function shownKeys(pins: readonly Pin[]): string {
  const shown = pins.slice(0, MOST_SHOWN).map(({ key }) => shownKey(key))
  return `${shown.join(', ')}${pins.length > MOST_SHOWN ? ` and ${pins.length - MOST_SHOWN} others` : ''}`
}

const MOST_SHOWN = 10

/** A key is any text, of any length. */
function shownKey(key: string): string {
  return key.length > 80 ? `"${key.slice(0, 80)}…"` : `"${key}"`
}

/** An environment that stands alone means what is deployed there, as long as that is one thing. */
async function onlyPin(
  registry: Registry,
  family: Family,
  { singular, fixedFlags }: AskedThrough,
  { artifact: environment }: RevisionLocation,
  pins: readonly Pin[],
): Promise<Pin> {
  const candidates: Pin[] = []
  for (const [index, pin] of pins.entries()) {
    if (index % PINS_BETWEEN_YIELDS === PINS_BETWEEN_YIELDS - 1) await yieldToEventLoop()
    const target = referencesTo(family, pin)
    const artifact = target && (await artifactOf(registry, family, target))
    if (!artifact) continue
    const wasMadeThrough = pin.references.has(`${singular}_revision`)
    if (wasMadeThrough || matchesFlags(artifact.record.flags ?? {}, fixedFlags)) candidates.push(pin)
  }
  const [only] = candidates
  if (only && candidates.length === 1) return only
  const why = only ? 'there are several' : `it has no ${singular}`
  const keys = candidates.map(({ key }) => key)
  throw new HelpfulRefusal('incomplete_reference', {
    family: family.name,
    sentenceOf: () =>
      `environment_ref alone does not say which deployment of "${environment.slug}" is meant: ${why}. Name one by key or by its artifact.`,
    help: () =>
      Promise.resolve({ sentence: only ? `There are ${shownKeys(candidates)}.` : '', details: { keys } }),
  })
}

/** The artifact a pin refers to; undefined if there is none any more. */
async function artifactOf(
  registry: Registry,
  family: Family,
  target: References,
): Promise<RevisionLocation['artifact'] | undefined> {
  try {
    return (await resolveReference(registry, family, target)).artifact
  } catch (error) {
    if (error instanceof Refusal) return undefined
    throw error
  }
}

function nothingDeployed({ artifact }: References, isAlone: boolean): Refusal {
  const { slug, id = '' } = artifact ?? {}
  const sentence = `Nothing has been deployed to the environment ${slug === undefined ? id : `"${slug}"`} yet.`
  return isAlone
    ? new Refusal('incomplete_reference', `${sentence} Deploy something, then name it.`, {
        details: { keys: [] },
      })
    : new Refusal('deployment_not_found', sentence)
}

function notDeployed({ artifact, version }: RevisionLocation, what: string): Refusal {
  return new Refusal(
    'deployment_not_found',
    `The environment "${artifact.slug}" has, at version ${version}, ${what.replace(/\.$/, '')}.`,
  )
}

/** A reference of a request that was not followed, and that names something else than what was found. */
export interface Disagreement {
  /** Which of the references it is … */
  readonly level: 'artifact' | 'variant' | 'revision' | 'environment'
  /** … and what of it does not match. */
  readonly field: 'id' | 'slug' | 'version'
  readonly value: string | number
  /** The value of the same field of what was found, if it has one. */
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
  const pins = at.it ? await pinsAt(at.it) : []
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

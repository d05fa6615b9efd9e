import { Refusal } from '../../errors.ts'
import type { ArtifactView, VariantView } from '../artifacts/artifact-view.ts'
import { documentOf } from '../payload/document-family.ts'
import { LargeDocument } from '../payload/large-document.ts'
import { pinsAt } from '../environments/environments.ts'
import type { Family } from '../payload/family.ts'
import { dateOf } from '../revisions/revision.ts'
import { pinnedRevision } from '../environments/pinned-revision.ts'
import type { Registry } from '../store/registry.ts'
import { type Revision, type RevisionLocation, latestOf, readListedRevision } from '../revisions/revision.ts'
import { type Ordered, type Window, type Windowing, byCreation, cutWindow } from '../store/pagination.ts'
import { unlessDamaged } from '../index/damaged-repositories.ts'
import type { EmbedLocation, EmbedToken } from './syntax/embed-token.ts'
import { EMBED_SEARCH, findEmbeds, type FoundEmbeds } from './syntax/find-embeds.ts'
import { referencesJson } from './references-json.ts'
import { stringifyJson, getKey, isJsonObject } from '../../base/json.ts'
import { TimeSlice, yieldToEventLoop } from '../../base/scheduling.ts'
import { embedLookup } from './targets/embed-lookup.ts'
import { findEmbedPlace } from './targets/find-embed-place.ts'
import { pinToFollow } from './pinned-references.ts'

/** The target of dependencies: an artifact, one of its variants, or one of its revisions. */
export interface DependencyTarget {
  readonly artifact: ArtifactView
  readonly variant?: VariantView | undefined
  readonly oid?: RevisionLocation['oid'] | undefined
}

/**
 * A revision that depends on the target: through locations in its data that embed it, or keys that deploy it.
 */
export interface Dependent {
  readonly revision: Revision
  readonly locations?: readonly EmbedLocation[]
  readonly keys?: readonly string[]
}

/** Which dependents to return. */
export interface DependentQuery {
  readonly includeArchived?: boolean | undefined
  readonly windowing?: Windowing | undefined
  /** Aborted when the caller is gone. */
  readonly signal?: AbortSignal | undefined
}

const PLACES_BETWEEN_YIELDS = 50

/**
 * Lists what embeds or deploys the target now, by date. It searches the latest revision of every visible
 * variant, deployed revisions, and the latest revisions of environments. A reference depends on what it names
 * now. A reference to an environment depends on the environment and on the revision that is deployed there.
 */
export async function queryDependents(
  registry: Registry,
  target: DependencyTarget,
  query: DependentQuery,
): Promise<Window<Dependent>> {
  const { signal } = query
  const places = new Places(registry)
  const rows: Ordered<Dependent>[] = []
  const add = (dependent: Dependent): void => {
    const { revision } = dependent
    rows.push({ id: revision.id, createdAt: dateOf(revision), value: dependent })
  }
  // A commit in two repositories is two revisions.
  const embedding = new Map<string, RevisionLocation>()
  const look = (place: RevisionLocation): void => {
    embedding.set(`${place.artifact.id} ${place.oid}`, place)
  }
  for await (const latest of latestRevisions(registry, [registry.environments], query)) {
    const keys: string[] = []
    const pins = await unlessDamaged(registry, latest.artifact, () => pinsAt(latest))
    for (const [index, pin] of (pins ?? []).entries()) {
      if (index % PLACES_BETWEEN_YIELDS === PLACES_BETWEEN_YIELDS - 1) await yieldToEventLoop()
      const deployed = await pinnedRevision(registry, pin)
      if (!deployed || deployed instanceof Refusal) continue
      if (isOf(deployed, target)) keys.push(pin.key)
      if (deployed.artifact.family.mayEmbed) look(deployed)
    }
    if (keys.length > 0) add({ revision: await readListedRevision(latest, signal), keys })
  }
  const families = registry.families.filter(({ mayEmbed }) => mayEmbed)
  await registry.index.refresh(families)
  for await (const latest of latestRevisions(registry, families, query)) look(latest)
  const slice = new TimeSlice(signal)
  let looked = 0
  for (const place of embedding.values()) {
    if (++looked % PLACES_BETWEEN_YIELDS === 0) await yieldToEventLoop()
    // The index rules most of them out unread.
    if (registry.index.database.isWithoutEmbeds(place)) continue
    const revision = await unlessDamaged(registry, place.artifact, () => readListedRevision(place, signal))
    if (!revision) continue
    const locations: EmbedLocation[] = []
    await slice.each(await tokensOf(revision, signal), async (token) => {
      if ((await places.of(token)).some((found) => isOf(found, target))) locations.push(token.location)
    })
    if (locations.length > 0) add({ revision, locations })
  }
  rows.sort(byCreation)
  return cutWindow(rows, query.windowing, () => true)
}

/** The latest revision of each visible variant. */
async function* latestRevisions(
  registry: Registry,
  families: readonly Family[],
  { includeArchived = false }: DependentQuery,
): AsyncGenerator<RevisionLocation> {
  let looked = 0
  for (const family of families) {
    for (const artifact of await registry.index.list(family)) {
      if (++looked % PLACES_BETWEEN_YIELDS === 0) await yieldToEventLoop()
      if (!includeArchived && artifact.record.deleted_at !== undefined) continue
      for (const variant of artifact.variants) {
        if (!includeArchived && variant.record.deleted_at !== undefined) continue
        const latest = await unlessDamaged(registry, artifact, () => latestOf(artifact, variant))
        if (latest) yield latest
      }
    }
  }
}

function isOf({ artifact, variant, oid }: RevisionLocation, target: DependencyTarget): boolean {
  if (artifact.id !== target.artifact.id) return false
  if (target.oid !== undefined) return oid === target.oid
  return target.variant === undefined || variant.id === target.variant.id
}

/** The tokens of documents that a thread has searched. */
const known = new WeakMap<object, readonly EmbedToken[]>()

async function tokensOf(
  { artifact, stored }: Revision,
  signal: AbortSignal | undefined,
): Promise<readonly EmbedToken[]> {
  const { payload } = stored
  if (payload === undefined) return []
  if (!(payload instanceof LargeDocument)) return findEmbeds(documentOf(payload)).tokens
  let tokens = known.get(payload)
  if (tokens) return tokens
  const { objects } = artifact.repository
  tokens = (await payload.call<FoundEmbeds>(objects, EMBED_SEARCH, 'findEmbeds', signal)).tokens
  known.set(payload, tokens)
  return tokens
}

/** The targets of references, each looked up once. */
class Places {
  readonly #registry: Registry
  readonly #found = new Map<string, readonly RevisionLocation[]>()

  constructor(registry: Registry) {
    this.#registry = registry
  }

  async of(token: EmbedToken): Promise<readonly RevisionLocation[]> {
    const { references, selector, form } = token
    const asked = stringifyJson([referencesJson(references), selector.key ?? null, form])
    let found = this.#found.get(asked)
    if (!found)
      this.#found.set(asked, (found = (await orNothing(() => placesOf(this.#registry, token))) ?? []))
    return found
  }
}

/** Returns undefined if a target does not exist. */
async function orNothing<T>(find: () => Promise<T>): Promise<T | undefined> {
  try {
    return await find()
  } catch (error) {
    if (error instanceof Refusal) return undefined
    throw error
  }
}

/**
 * The revisions an embed points at now: its target, and the revision that the target deploys if the embed
 * follows a pin. Throws an `EmbedRefusal` if one cannot be found.
 */
async function placesOf(
  registry: Registry,
  { form, references, selector }: EmbedToken,
): Promise<readonly RevisionLocation[]> {
  const lookup = embedLookup(references)
  const place = await findEmbedPlace(registry, lookup)
  if (lookup.family !== 'environment') return [place]
  const { repository, revisions } = place.artifact
  const { payload } = await revisions.read(repository.objects, place.oid)
  const pins = payload && getKey(documentOf(payload), 'references')
  const pinned = pinToFollow(form, selector.key, lookup, isJsonObject(pins) ? pins : undefined)
  return pinned ? [place, await findEmbedPlace(registry, embedLookup(pinned))] : [place]
}

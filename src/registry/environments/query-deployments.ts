import { invalid, Refusal } from '../../errors.ts'
import type { Oid } from '../../git/objects.ts'
import { TimeSlice } from '../../base/scheduling.ts'
import type { ArtifactView } from '../artifacts/artifact-view.ts'
import { unlessDamaged } from '../index/damaged-repositories.ts'
import type { Family } from '../payload/family.ts'
import type { Window, Windowing } from '../store/pagination.ts'
import type { Pin, Reference } from '../store/reference.ts'
import type { Registry } from '../store/registry.ts'
import {
  type Revision,
  type RevisionLocation,
  isHeldBy,
  latestOf,
  readCommitAt,
} from '../revisions/revision.ts'
import { resolveArtifact } from '../revisions/references.ts'
import { pinsAt } from './environments.ts'
import { defaultKey, referencesTo } from './pin.ts'
import { pinnedRevision } from './pinned-revision.ts'
import { isDeepStrictEqual } from 'node:util'

/** A deployment that an environment has under a key. */
export interface CurrentDeployment {
  readonly environment: ArtifactView
  readonly key: string
  /** The running revision, or a refusal that says why the target does not exist. */
  readonly revision: Revision | Refusal
  /** The environment's revision that deployed it. */
  readonly since: Revision
  /**
   * The variant's latest revision, and how many revisions it is ahead; undefined if the variant's history no
   * longer contains the running one.
   */
  readonly latest: { readonly revision: Revision; readonly ahead: number } | undefined
}

/** Conditions on deployments; all are optional. */
export interface DeploymentFilter {
  readonly environment?: Reference | undefined
  /** A case-insensitive part of the artifact's slug or the key. */
  readonly contains?: string | undefined
  /** The slug of the artifact. */
  readonly artifact?: string | undefined
  /** Whether to include archived environments; a named one is always included. */
  readonly includeArchived?: boolean | undefined
}

/**
 * Lists what the default variants of environments run, by key and then environment, with newer revisions.
 * Archived environments are left out by default, though retrieves through them still work. Unreadable parts
 * of a damaged environment are left out.
 */
export async function queryDeployments(
  registry: Registry,
  filter: DeploymentFilter,
  windowing: Windowing = {},
  slice = new TimeSlice(),
): Promise<Window<CurrentDeployment>> {
  const held = await heldNow(registry, filter)
  if (windowing.order === 'descending') held.reverse()
  const from = windowing.next === undefined ? 0 : held.findIndex((it) => cursorOf(it) === windowing.next) + 1
  if (windowing.next !== undefined && from === 0) throw goneCursor(windowing.next)
  const shown = held.slice(from, from + (windowing.limit ?? held.length))
  const since = await sinceOf(registry, shown, slice)
  const rows: CurrentDeployment[] = []
  for (const it of shown) {
    if (slice.isOver) await slice.rest()
    const place = since.get(it)
    const deployment =
      place && (await unlessDamaged(registry, it.environment, () => deploymentAt(registry, it, place)))
    if (deployment) rows.push(deployment)
  }
  const last = shown.at(-1)
  return { rows, next: last && from + shown.length < held.length ? cursorOf(last) : undefined }
}

/** A key in an environment's latest revision. */
interface Held {
  readonly environment: ArtifactView
  readonly latest: RevisionLocation
  readonly pin: Pin
}

async function heldNow(
  registry: Registry,
  { environment: wanted, contains, artifact, includeArchived = false }: DeploymentFilter,
): Promise<Held[]> {
  const { environments, index } = registry
  const among = wanted
    ? [await resolveArtifact(registry, environments, wanted)]
    : await index.list(environments)
  const part = contains?.toLowerCase() ?? ''
  const held: Held[] = []
  for (const environment of among) {
    const variant = environment.defaultVariant
    const isAsked = includeArchived || wanted !== undefined || environment.record.deleted_at === undefined
    if (!isAsked || !variant) continue
    await unlessDamaged(registry, environment, async () => {
      const latest = await latestOf(environment, variant)
      for (const pin of latest ? await pinsAt(latest) : []) {
        const slug = slugOf(registry, pin)
        if (artifact !== undefined && slug !== artifact) continue
        if (!`${pin.key}\n${slug ?? ''}`.toLowerCase().includes(part)) continue
        if (latest) held.push({ environment, latest, pin })
      }
    })
  }
  // The sort is stable: environments keep their list order.
  return held.sort((a, b) => (a.pin.key < b.pin.key ? -1 : a.pin.key > b.pin.key ? 1 : 0))
}

/** The artifact's slug in a pin. */
function slugOf({ families }: Registry, pin: Pin): string | undefined {
  for (const family of families) {
    const slug = referencesTo(family, pin)?.artifact?.slug
    if (slug !== undefined) return slug
  }
  return undefined
}

/** The environment's revision since which each is held; walks each history once for all its keys. */
async function sinceOf(
  registry: Registry,
  shown: readonly Held[],
  slice: TimeSlice,
): Promise<ReadonlyMap<Held, Revision>> {
  const found = new Map<Held, Revision>()
  for (const environment of new Set(shown.map((it) => it.environment))) {
    const own = shown.filter((it) => it.environment === environment)
    const [first] = own
    if (!first) continue
    await unlessDamaged(registry, environment, async () => {
      const since = await holdingSince(first.latest, slice)
      // One deployment may set thousands of keys.
      const revisions = new Map<Oid, Revision>()
      for (const it of own) {
        const place = since.get(it.pin.key)
        if (!place) continue
        const revision = revisions.get(place.oid) ?? (await readCommitAt(place))
        revisions.set(place.oid, revision)
        found.set(it, revision)
      }
    })
  }
  return found
}

async function deploymentAt(
  registry: Registry,
  { environment, pin }: Held,
  since: Revision,
): Promise<CurrentDeployment> {
  const place =
    (await pinnedRevision(registry, pin)) ??
    new Refusal('revision_not_found', `The key ${pin.key} refers to no revision.`)
  const isLost = place instanceof Refusal
  return {
    environment,
    key: pin.key,
    revision: isLost ? place : await readCommitAt(place),
    since,
    latest: isLost ? undefined : await newerThan(place),
  }
}

async function newerThan(place: RevisionLocation): Promise<CurrentDeployment['latest']> {
  const latest = await latestOf(place.artifact, place.variant)
  if (!latest || !(await isHeldBy(place, place.variant))) return undefined
  return {
    revision: await readCommitAt(latest),
    ahead: Math.max(0, latest.version - place.version),
  }
}

function cursorOf({ environment, pin }: Held): string {
  return Buffer.from(JSON.stringify([pin.key, environment.id])).toString('base64url')
}

function goneCursor(next: string): Refusal {
  return invalid(
    ['body', 'windowing', 'next'],
    `${next} is not a place in this list, or what stood there was taken down. Begin again without \`next\`.`,
    'invalid_cursor',
  )
}

/** By key, the oldest revision since which it has its current value. */
type Since = ReadonlyMap<string, RevisionLocation>

/**
 * The result of each environment's last walk, so that the next one stops there. A walk decodes every revision
 * it passes.
 */
const walked = new WeakMap<object, { readonly oid: Oid; readonly since: Since }>()

/**
 * For each key of an environment's revision, the oldest earlier revision since which the key has its current
 * value. A revision that does not decode holds nothing.
 */
async function holdingSince(latest: RevisionLocation, slice: TimeSlice): Promise<Since> {
  const { artifact, variant, oid } = latest
  const { repository } = artifact
  // What a limited key sees of the pins is walked for it alone.
  const before = artifact.whole ? undefined : walked.get(repository)
  if (before?.oid === oid) return before.since
  const since = new Map<string, RevisionLocation>()
  const open = new Map(await pinsOf(latest, oid))
  for (let node = await repository.history.node(oid); open.size > 0;) {
    if (slice.isOver) await slice.rest()
    if (node.oid === before?.oid) {
      for (const key of open.keys()) {
        const place = before.since.get(key)
        if (place) since.set(key, place)
      }
      break
    }
    const { parent } = node
    const held = parent ? await pinsOf(latest, parent.oid) : new Map<string, Pin>()
    for (const [key, pin] of open) {
      if (isDeepStrictEqual(held.get(key), pin)) continue
      since.set(key, { artifact, variant, oid: node.oid, version: node.depth })
      open.delete(key)
    }
    if (!parent) break
    node = parent
  }
  if (!artifact.whole) walked.set(repository, { oid, since })
  return since
}

async function pinsOf(
  { artifact: { family, repository, revisions } }: RevisionLocation,
  oid: Oid,
): Promise<ReadonlyMap<string, Pin>> {
  const { payload } = await revisions.readForList(repository.objects, oid)
  const pins = (payload && family.pins?.(payload)) ?? []
  return new Map(pins.map((pin) => [pin.key, pin]))
}

/** The ids of the artifacts of a family that an environment runs. */
export async function artifactsDeployedTo(
  registry: Registry,
  family: Family,
  environment: Reference,
): Promise<ReadonlySet<string>> {
  const ids = new Set<string>()
  const slice = new TimeSlice()
  for (const { pin } of await heldNow(registry, { environment })) {
    const references = referencesTo(family, pin)
    if (!references) continue
    const known = references.artifact?.id
    const place = known === undefined ? await pinnedRevision(registry, pin) : undefined
    const id = known ?? (place && !(place instanceof Refusal) ? place.artifact.id : undefined)
    if (id !== undefined) ids.add(id)
    await slice.pause()
  }
  return ids
}

/**
 * What unarchived environments run of artifacts under their default keys, in the latest revisions of their default variants: by artifact id,
 * the commit by the environment's slug.
 */
export async function deployedCommits(
  registry: Registry,
  artifacts: readonly ArtifactView[],
): Promise<ReadonlyMap<string, Map<string, Oid>>> {
  const commits = new Map(artifacts.map(({ id }) => [id, new Map<string, Oid>()]))
  const slice = new TimeSlice()
  for (const environment of await registry.index.list(registry.environments)) {
    const { defaultVariant: variant, record, slug } = environment
    if (record.deleted_at !== undefined || !variant) continue
    await unlessDamaged(registry, environment, async () => {
      const latest = await latestOf(environment, variant)
      const pins = new Map((latest ? await pinsAt(latest) : []).map((pin) => [pin.key, pin]))
      await slice.each(artifacts, async (artifact) => {
        const pin = pins.get(defaultKey(artifact.slug))
        const place = pin && (await pinnedRevision(registry, pin))
        if (place && !(place instanceof Refusal) && place.artifact.id === artifact.id)
          commits.get(artifact.id)?.set(slug, place.oid)
      })
    })
  }
  return commits
}

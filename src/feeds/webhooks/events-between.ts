import { isDeepStrictEqual } from 'node:util'
import { Refusal } from '../../errors.ts'
import { type HistoryNode, isOnChain } from '../../git/history.ts'
import { type Commit, type Oid, parseCommit } from '../../git/objects.ts'
import { equalJson, fromEntries, type Json, type JsonObject } from '../../base/json.ts'
import { yieldToEventLoop } from '../../base/scheduling.ts'
import {
  type ArtifactState,
  readArtifactState,
  type VariantRecord,
  type ArtifactView,
  type VariantView,
} from '../../registry/artifacts.ts'
import { referencesTo } from '../../registry/environments.ts'
import { readBytes } from '../../registry/families.ts'
import { variantUuid, type Pin, type Reference, type Registry } from '../../registry/registries.ts'
import {
  findRevisionById,
  homeOf,
  readListedRevision,
  type Revision,
  decodeMessage,
} from '../../registry/revisions.ts'
import type { EventType } from './webhook.ts'
import type { PublishCursor } from './cursor-log.ts'
import {
  artifactReference,
  type Happening,
  type RegistryEvent,
  registryEvent,
  revisionReferences,
} from './registry-event.ts'

/**
 * The events of an artifact between its publish cursor and this view: one for each committed revision and each change of its record, over
 * REST or by git. The events of one branch, and those of the meta history, are in their order; these lists are merged by seconds, and
 * within a second by rank. Events depend only on git, so computing them again gives the same events with the same ids.
 */
export async function eventsBetween(
  registry: Registry,
  view: ArtifactView,
  before: PublishCursor | undefined,
): Promise<readonly RegistryEvent[]> {
  const known = before?.id === view.id ? before : undefined
  const seen = new Set<Oid>()
  const streams = [await metaEvents(view, known)]
  for (const variant of view.variants) streams.push(await branchEvents(registry, view, variant, known, seen))
  return streams
    .flatMap(placed)
    .sort((a, b) => a.seconds - b.seconds || byRank(a.happening, b.happening))
    .map(({ happening }) => registryEvent(view, happening))
}

/** The single event of an artifact that was imported with its history. */
export async function creationOf(view: ArtifactView): Promise<readonly RegistryEvent[]> {
  const [created] = await metaEvents(view, undefined)
  return created ? [registryEvent(view, created)] : []
}

interface Placed {
  readonly happening: Happening
  /** Never before the previous one: clocks of pushing clients may be wrong. */
  readonly seconds: number
}

function placed(stream: readonly Happening[]): Placed[] {
  let latest = Number.NEGATIVE_INFINITY
  return stream.map((happening) => {
    latest = Math.max(latest, happening.seconds)
    return { happening, seconds: latest }
  })
}

/** Not a subtraction, because the last rank is infinite. */
function byRank({ rank: a }: Happening, { rank: b }: Happening): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** The subject of a change. */
type Change = Pick<Happening, 'type' | 'subject' | 'references'> & { readonly start?: Oid | undefined }

/** The changes of the commits on refs/meta/artifact since the cursor, oldest first; undefined for a new artifact. */
async function metaEvents(
  view: ArtifactView,
  before: PublishCursor | undefined,
): Promise<readonly Happening[]> {
  const { objects } = view.repository
  const commits = await commitsSince(view, before?.meta)
  const happenings: Happening[] = []
  const [oldest] = commits
  let state = oldest && (await stateBefore(view, oldest.commit, before))
  for (const { oid, commit } of commits) {
    const after = oid === view.metaCommit ? view.source.state : await readArtifactState(objects, oid)
    const changes = [
      ...artifactChanges(view, state, after),
      ...variantChanges(view, state, after, before),
      ...(await revisionChanges(view, state, after)),
    ]
    const { committer, author, message } = commit
    for (const { start, ...change } of changes) {
      happenings.push({
        ...change,
        rank: await rankOf(view, change.type, start),
        cause: oid,
        seconds: committer.seconds,
        actor: author,
        said: decodeMessage(message),
      })
    }
    state = after
  }
  return happenings
}

/** Creations come first, a fork right after the revision at which it began, everything else last. */
async function rankOf(
  { repository }: ArtifactView,
  type: EventType,
  start: Oid | undefined,
): Promise<number> {
  if (type === 'variant.forked' && start !== undefined)
    return (await repository.history.node(start)).depth + 0.5
  return type === 'artifact.created' || type === 'variant.created' ? 0 : Number.POSITIVE_INFINITY
}

/** The commits after `told`, oldest first; only the newest if the published history was replaced. */
async function commitsSince(
  { repository, metaCommit }: ArtifactView,
  told: Oid | undefined,
): Promise<{ readonly oid: Oid; readonly commit: Commit }[]> {
  const commits = []
  let oid: Oid | undefined = metaCommit
  while (oid !== undefined && oid !== told) {
    const commit = parseCommit(await readBytes(repository.objects, oid, 'commit'))
    commits.push({ oid, commit })
    oid = commit.parents[0]
  }
  const isReplaced = told !== undefined && oid === undefined
  return isReplaced ? commits.slice(0, 1) : commits.reverse()
}

/** The state before the oldest of the commits; if it is unknown, that commit's own state, so that it has no changes. */
async function stateBefore(
  { repository, source, metaCommit }: ArtifactView,
  { parents }: Commit,
  before: PublishCursor | undefined,
): Promise<ArtifactState | undefined> {
  const oid = before?.meta ?? parents[0]
  if (oid === undefined) return undefined
  try {
    return await readArtifactState(repository.objects, oid)
  } catch (error) {
    if (!(error instanceof Refusal) || oid === metaCommit) throw error
    return source.state
  }
}

function artifactChanges(
  view: ArtifactView,
  before: ArtifactState | undefined,
  { artifact }: ArtifactState,
): Change[] {
  const type = before
    ? changeOf('artifact', before.artifact, artifact)
    : ('artifact.created' satisfies EventType)
  return type ? [{ type, subject: '', references: [artifactReference(view)] }] : []
}

function variantChanges(
  view: ArtifactView,
  before: ArtifactState | undefined,
  { variants }: ArtifactState,
  told: PublishCursor | undefined,
): Change[] {
  return [...variants].flatMap(([slug, record]): Change[] => {
    const old = before?.variants.get(slug)
    // A branch of plain git was published before it had a record.
    const isKnown = old !== undefined || (told !== undefined && told.heads.get(slug) !== undefined)
    const made = record.start === undefined ? 'variant.created' : 'variant.forked'
    const type = isKnown ? changeOfKnown(old, record) : made
    const reference: [string, Json] = [
      `${view.family.name}_variant`,
      { id: variantUuid(slug, view.digits), slug },
    ]
    if (!type) return []
    return [{ type, subject: slug, references: [artifactReference(view), reference], start: record.start }]
  })
}

async function revisionChanges(
  view: ArtifactView,
  before: ArtifactState | undefined,
  { archived }: ArtifactState,
): Promise<Change[]> {
  const old = before?.archived ?? new Map<string, unknown>()
  const changed: [EventType, string][] = []
  for (const id of archived.keys()) if (!old.has(id)) changed.push(['revision.archived', id])
  for (const id of old.keys()) if (!archived.has(id)) changed.push(['revision.unarchived', id])
  return Promise.all(
    changed.map(async ([type, id]) => {
      const place = await findRevisionById(view, id)
      const references = place && revisionReferences(await readListedRevision(place))
      return { type, subject: id, references: references ?? [artifactReference(view)] }
    }),
  )
}

/** The first record of a plain-git branch is no event, unless a change was made with it. */
function changeOfKnown(old: VariantRecord | undefined, record: VariantRecord): EventType | undefined {
  return old === undefined && record.updated_at === undefined
    ? undefined
    : changeOf('variant', old ?? {}, record)
}

/** The change of a record; undefined if there is none. */
function changeOf(
  level: 'artifact' | 'variant',
  before: { readonly deleted_at?: string | undefined },
  after: { readonly deleted_at?: string | undefined },
): EventType | undefined {
  const [was, is] = [before.deleted_at !== undefined, after.deleted_at !== undefined]
  if (was !== is) return is ? `${level}.archived` : `${level}.unarchived`
  return isDeepStrictEqual(before, after) ? undefined : `${level}.edited`
}

const REVISIONS_BETWEEN_YIELDS = 100

/**
 * The events of a variant's branch since the cursor: its creation by plain git, each new revision (not in `seen`, the revisions of other
 * branches, to which they are added), and deployments. Oldest first.
 */
async function branchEvents(
  registry: Registry,
  view: ArtifactView,
  variant: VariantView,
  before: PublishCursor | undefined,
  seen: Set<Oid>,
): Promise<readonly Happening[]> {
  const { head } = variant
  if (head === undefined || (before && before.heads.get(variant.slug) === head)) return []
  const { history } = view.repository
  const happenings: Happening[] = []
  const made = await madeByGit(view, variant, before)
  if (made) happenings.push(made)
  const nodes: HistoryNode[] = []
  const told = await toldNodes(view, variant, before)
  let node: HistoryNode | undefined = await history.node(head)
  while (node && !isTold(node, told)) {
    if (!seen.has(node.oid)) nodes.push(node)
    node = node.parent
  }
  for (const [index, { oid, depth }] of nodes.reverse().entries()) {
    if (index % REVISIONS_BETWEEN_YIELDS === REVISIONS_BETWEEN_YIELDS - 1) await yieldToEventLoop()
    seen.add(oid)
    const place = (await homeOf(view, oid)) ?? { artifact: view, variant, oid, version: depth }
    const revision = await readListedRevision(place)
    const { commit } = revision.stored
    const about = {
      cause: oid,
      subject: '',
      seconds: commit.committer.seconds,
      rank: depth,
      references: revisionReferences(revision),
      actor: commit.author,
      said: revision.stored,
    }
    happenings.push({ ...about, type: 'revision.committed' })
    for (const deployment of await deploymentEvents(registry, revision, about)) happenings.push(deployment)
  }
  return happenings
}

/** The published heads, this branch's own first, because the walk usually ends there. */
async function toldNodes(
  { repository }: ArtifactView,
  { slug }: VariantView,
  before: PublishCursor | undefined,
): Promise<readonly HistoryNode[]> {
  if (!before) return []
  const own = before.heads.get(slug)
  const others = [...before.heads.values()].filter((oid) => oid !== own)
  const nodes: HistoryNode[] = []
  for (const oid of own === undefined ? others : [own, ...others]) {
    // A rewritten head may no longer be in the repository.
    if (await repository.objects.read(oid)) nodes.push(await repository.history.node(oid))
  }
  return nodes
}

function isTold(node: HistoryNode, told: readonly HistoryNode[]): boolean {
  return told.some((head) => isOnChain(node, head))
}

/** The event of a branch without a record: a fork if it began on another branch. */
async function madeByGit(
  view: ArtifactView,
  { slug, id, head, record }: VariantView,
  before: PublishCursor | undefined,
): Promise<Happening | undefined> {
  if (head === undefined || view.source.state.variants.has(slug)) return undefined
  if (before && before.heads.get(slug) !== undefined) return undefined
  const { history, objects } = view.repository
  const others: HistoryNode[] = []
  for (const other of view.variants) {
    if (other.slug !== slug && other.head !== undefined) others.push(await history.node(other.head))
  }
  let root = await history.node(head)
  while (root.parent && !isTold(root, others)) root = root.parent
  const { author, committer } = parseCommit(await readBytes(objects, head, 'commit'))
  const isFork = isTold(root, others)
  return {
    type: isFork ? 'variant.forked' : 'variant.created',
    rank: isFork ? root.depth + 0.5 : 0,
    // The date of its first own commit does not change when it grows.
    cause: record.created_at,
    subject: slug,
    seconds: Math.min(Math.floor(Date.parse(record.created_at) / 1000), committer.seconds),
    references: [artifactReference(view), [`${view.family.name}_variant`, { id, slug }]],
    actor: author,
  }
}

/**
 * The deployments and undeployments of an environment's revision against its parent: an event for each kind, with the whole difference
 * (interface 13.9). None for other families.
 */
async function deploymentEvents(
  registry: Registry,
  { artifact, oid }: Revision,
  about: Omit<Happening, 'type'>,
): Promise<readonly Happening[]> {
  const { family, repository, revisions } = artifact
  if (!family.pins) return []
  const { parent } = await repository.history.node(oid)
  const pinsOf = async (commit: Oid | undefined): Promise<ReadonlyMap<string, Pin> | undefined> => {
    if (commit === undefined) return new Map()
    const { payload, damage } = await revisions.readForList(repository.objects, commit)
    return damage ? undefined : new Map(payload && family.pins?.(payload).map((pin) => [pin.key, pin]))
  }
  const [before, after] = [await pinsOf(parent?.oid), await pinsOf(oid)]
  // An unreadable revision of plain git deploys and undeploys nothing.
  if (!before || !after) return []
  const created = [...after.values()].filter(({ key }) => !before.has(key))
  const deleted = [...before.values()].filter(({ key }) => !after.has(key))
  const updated = [...after.values()].flatMap((pin): [Pin, Pin][] => {
    const old = before.get(pin.key)
    return old && !equalJson(jsonOf(old), jsonOf(pin)) ? [[old, pin]] : []
  })
  const diff = fromEntries([
    ['created', fromEntries(created.map((pin) => [pin.key, { new: jsonOf(pin) }]))],
    ['updated', fromEntries(updated.map(([old, pin]) => [pin.key, { old: jsonOf(old), new: jsonOf(pin) }]))],
    ['deleted', fromEntries(deleted.map((pin) => [pin.key, { old: jsonOf(pin) }]))],
  ])
  const deployed = artifactsOf(registry, [...created, ...updated.flat()])
  const undeployed = artifactsOf(registry, deleted)
  return [
    ...(created.length + updated.length > 0
      ? [{ ...about, type: 'environment.deployed' as const, diff, deployed }]
      : []),
    ...(deleted.length > 0
      ? [{ ...about, type: 'environment.undeployed' as const, diff, deployed: undeployed }]
      : []),
  ]
}

function jsonOf({ references }: Pin): JsonObject {
  return fromEntries(
    [...references].map(([name, { id, slug, version }]): [string, Json] => [
      name,
      fromEntries(
        Object.entries({ id, slug, version }).filter(
          (it): it is [string, string | number] => it[1] !== undefined,
        ),
      ),
    ]),
  )
}

/** The artifacts of pins: every id in a pin ends in its artifact's digits. */
function artifactsOf({ families }: Registry, pins: readonly Pin[]): Reference[] {
  return pins.flatMap((pin) =>
    families.flatMap((family) => {
      const { artifact, variant, revision } = referencesTo(family, pin) ?? {}
      const id = artifact?.id ?? variant?.id ?? revision?.id
      return id === undefined && artifact?.slug === undefined ? [] : [{ id, slug: artifact?.slug }]
    }),
  )
}

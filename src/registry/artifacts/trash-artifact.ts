import { Refusal } from '../../errors.ts'
import type { ArtifactView } from './artifact-view.ts'
import { assertUnguarded } from '../revisions/revision.ts'
import type { Registry } from '../store/registry.ts'
import { artifactById } from '../revisions/references.ts'
import type { WriteContext } from '../store/write-context.ts'
import { noteTrashAct, type TrashAct } from './trash-log.ts'
import { type Trashed, stampText } from './trash.ts'
import type { Oid } from '../../git/objects.ts'
import { TimeSlice } from '../../base/scheduling.ts'
import { repositoryDigits } from '../store/ids.ts'
import type { Pin } from '../store/reference.ts'
import { referencesTo } from '../environments/pin.ts'

/** A user of an artifact, which prevents its removal. */
export interface ArtifactUser {
  readonly kind: 'deployment' | 'embed' | 'trace' | 'evaluation' | 'webhook' | 'fork'
  readonly id?: string
  readonly slug?: string
  /** The environment's current or past key for it. */
  readonly key?: string
}

const MAX_USERS_NAMED = 1000

/**
 * Moves an artifact that nothing refers to into the trash, complete. Throws `in_use` with the users from
 * `usersOf` and its current and past deployments. A write that was answered before is kept; a later one does
 * not find the artifact.
 */
export async function trashArtifact(
  registry: Registry,
  artifact: ArtifactView,
  context: WriteContext,
  usersOf: () => Promise<readonly ArtifactUser[]>,
): Promise<Trashed> {
  const { store, index } = registry
  const { family, id, slug } = artifact
  assertUnguarded(family, artifact.record, context.actor)
  const pins = new PinsEver(registry)
  assertUnused(artifact, [...(await deployments(pins, artifact)), ...(await usersOf())])
  await store.claimingSlugs(async () => {
    const { record } = await artifactById(registry, family, id)
    const date = registry.now().toISOString()
    const stamp = stampText({ trashed_at: date, trashed_by_id: context.actor.id })
    // A deployment of the artifact writes to one of these.
    const environments = [...(await index.list(registry.environments))]
    const others = environments.filter((it) => it.id !== id).map(({ repository }) => repository.path)
    await store.trash.put(family.folder, slug, stamp, {
      others,
      check: async () => {
        assertUnguarded(family, record, context.actor)
        assertUnused(artifact, await deployments(pins, artifact))
      },
    })
    await noteTrashAct(registry, { action: 'trashed', ...actOf(artifact), date, by: context.actor.id })
    await index.removed(family, slug)
  })
  const trashed = await registry.trash.withDigits(id)
  if (trashed) return trashed
  throw new Refusal('artifact_not_found', `The ${family.name} "${slug}" came back just now.`)
}

/**
 * Restores an artifact from the trash unchanged; if it is no longer there, returns the artifact with its id.
 */
export async function undeleteArtifact(
  registry: Registry,
  { artifact }: Trashed,
  context: WriteContext,
): Promise<ArtifactView> {
  const { store, index } = registry
  const { id, family, slug, record } = artifact
  assertUnguarded(family, record, context.actor)
  return store.claimingSlugs(async () => {
    const still = await registry.trash.withDigits(id)
    if (!still) return artifactById(registry, family, id)
    if (index.hasDigits(id)) {
      throw new Refusal(
        'id_taken',
        `Another artifact of this project has the id ${id}, or one that ends like it. Remove that copy, and undelete again.`,
        { conflict: { id } },
      )
    }
    if (await index.isTaken('artifact', family, slug)) {
      throw new Refusal(
        'slug_taken',
        `Another ${family.name} has come to have the slug "${slug}". Remove that one, and undelete again.`,
        { conflict: { slug } },
      )
    }
    await store.trash.takeBack(family.folder, slug)
    const date = registry.now().toISOString()
    await noteTrashAct(registry, { action: 'undeleted', ...actOf(artifact), date, by: context.actor.id })
    const view = await index.takeInOwn(family, slug)
    // Processes that died while it was removed no longer own their leftovers.
    await view.repository.sweepLeftovers()
    return view
  })
}

function actOf({ family, id, slug }: ArtifactView): Pick<TrashAct, 'family' | 'id' | 'slug'> {
  return { family: family.name, id, slug }
}

/** Purges expired trash, or only one artifact at once. */
export async function purgeTrash(registry: Registry, only?: Trashed): Promise<readonly Trashed[]> {
  const now = registry.now().toISOString()
  const isDue = (it: Trashed): boolean => (only ? it.artifact.id === only.artifact.id : it.until <= now)
  if (!(await registry.trash.list()).some(isDue)) return []
  return registry.store.claimingSlugs(async () => {
    const due = (await registry.trash.list()).filter(isDue)
    for (const { artifact } of due) {
      const { family, slug } = artifact
      // A start seeds the first environments; it must not recreate removed ones.
      await registry.store.trash.purge(family.folder, slug, family.pins !== undefined)
    }
    return due
  })
}

async function deployments(pins: PinsEver, artifact: ArtifactView): Promise<readonly ArtifactUser[]> {
  const mirrors = [...artifact.repository.refs.snapshot().refs.keys()].filter((ref) =>
    ref.startsWith(MIRRORS),
  )
  const pinned = await pins.of(artifact)
  const known = new Set(pinned.map(({ environment }) => environment.slug))
  return [
    ...pinned.map(({ environment, key }): ArtifactUser => ({ kind: 'deployment', ...environment, key })),
    ...mirrors
      .map((ref) => ref.slice(MIRRORS.length))
      .filter((slug) => !known.has(slug))
      .map((slug): ArtifactUser => ({ kind: 'deployment', slug })),
  ]
}

const MIRRORS = 'refs/environments/'

function assertUnused({ family, slug }: ArtifactView, users: readonly ArtifactUser[]): void {
  if (users.length === 0) return
  const kinds = [...new Set(users.map(({ kind }) => SENTENCES[kind]))].join(', ')
  throw new Refusal(
    'in_use',
    `The ${family.name} "${slug}" cannot be removed, because something refers to it: ${kinds}. Archive it, which hides it and keeps ` +
      `what refers to it whole.`,
    {
      users: users.slice(0, MAX_USERS_NAMED),
      ...(users.length > MAX_USERS_NAMED ? { truncated: true } : {}),
    },
  )
}

const SENTENCES: Readonly<Record<ArtifactUser['kind'], string>> = {
  deployment: 'it is or was deployed',
  embed: 'revisions embed it',
  trace: 'traces name it',
  evaluation: 'evaluations name it',
  webhook: 'webhooks name it',
  fork: 'other artifacts go on from its history',
}

/** A current or past deployment of an environment. */
interface EverPinned {
  readonly environment: { readonly id: string; readonly slug: string }
  readonly key: string
}

const HEADS = 'refs/heads/'

/**
 * Searches the histories of environments, including archived ones, for deployments. Skips revisions already
 * read, so a second search costs only new ones.
 */
class PinsEver {
  readonly #registry: Registry
  readonly #seen = new Set<string>()

  constructor(registry: Registry) {
    this.#registry = registry
  }

  /**
   * Current and past deployments of the artifact, by environment; for an environment, all of its own.
   * Excludes what an earlier call read.
   */
  async of(artifact: ArtifactView): Promise<readonly EverPinned[]> {
    const { index, environments } = this.#registry
    const among = artifact.family === environments ? [artifact] : await index.list(environments)
    const found = new Map<string, EverPinned>()
    const slice = new TimeSlice()
    for (const environment of among) {
      const { id, slug, repository } = environment
      // Read refs from the disk: the index may not know the latest write yet.
      for (const [ref, head] of repository.refs.snapshot().refs) {
        if (!ref.startsWith(HEADS)) continue
        for (let node = await repository.history.node(head); ; node = node.parent) {
          if (this.#seen.has(`${id} ${node.oid}`)) break
          this.#seen.add(`${id} ${node.oid}`)
          for (const pin of await this.#pinsAt(environment, node.oid)) {
            if (artifact === environment || names(this.#registry, pin, artifact))
              found.set(`${id} ${pin.key}`, { environment: { id, slug }, key: pin.key })
          }
          if (slice.isOver) await slice.rest()
          if (!node.parent) break
        }
      }
    }
    return [...found.values()]
  }

  async #pinsAt({ family, repository, revisions }: ArtifactView, oid: Oid): Promise<readonly Pin[]> {
    const { payload } = await revisions.readForList(repository.objects, oid)
    return (payload && family.pins?.(payload)) ?? []
  }
}

/** Whether a pin names the artifact: by any of its ids, which end in the same digits; else by its slugs. */
function names({ families }: Registry, pin: Pin, { digits, slug, variants, tags }: ArtifactView): boolean {
  return families.some((family) => {
    const { artifact, variant, revision } = referencesTo(family, pin) ?? {}
    const references = [artifact, variant, revision].filter((it) => it !== undefined)
    if (references.some(({ id }) => id !== undefined))
      return references.some(({ id }) => id !== undefined && repositoryDigits(id) === digits)
    const isVariant = (it: string | undefined): boolean => variants.some((own) => own.slug === it)
    return (
      artifact?.slug === slug ||
      isVariant(variant?.slug) ||
      (revision?.slug !== undefined &&
        (tags.has(revision.slug) ||
          revision.slug === slug ||
          isVariant(revision.slug) ||
          isVariant(revision.slug.replace(/-[1-9][0-9]*$/, ''))))
    )
  })
}

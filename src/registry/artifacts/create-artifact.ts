import { randomBytes } from 'node:crypto'
import { v7 as uuidv7 } from 'uuid'
import { Refusal } from '../../errors.ts'
import type { NewFolder } from '../../git/store.ts'
import { assertPinsDeployable } from '../environments/assert-pins-deployable.ts'
import type { Family, MetRows, PayloadTarget } from '../payload/family.ts'
import { findEarlierAttempt, type FinishedAttempt } from '../revisions/find-earlier-attempt.ts'
import { repositoryDigits } from '../store/ids.ts'
import type { Registry } from '../store/registry.ts'
import { type NewRevision, buildRevision } from '../revisions/write-revision.ts'
import { boundedHeader, writeCommit } from '../revisions/stored-revision.ts'
import { assertArtifactSlugFree, freeArtifactSlug, freeVariantSlug } from '../slugs/claim-slugs.ts'
import { claimsOfArtifact } from '../index/slug-table.ts'
import { slugOfName, unnumbered } from '../slugs/slug.ts'
import { inTrash } from './trash.ts'
import type { WriteContext } from '../store/write-context.ts'
import { type Header, META_REF, type VariantRecord, writeArtifactState } from './artifact-record.ts'
import type { ArtifactView } from './artifact-view.ts'
import { spelledFolder } from './folders.ts'
import { assertUnguarded } from '../revisions/revision.ts'
import { type GitObject, type ObjectKind, type Oid, hashObject } from '../../git/objects.ts'
import type { CacheFile } from '../../storage/files.ts'
import type { StagedPack } from '../../git/packs.ts'

/** The content of an artifact's first revision. */
export type FirstContent = Omit<NewRevision, 'artifact' | 'variant' | 'parent' | 'taken'>

/** The content of a create request; `loc` is the place of its slug in the request. */
export interface NewArtifact {
  /** The requested id (any UUID); without one, a UUIDv7 is made. */
  readonly id?: string | undefined
  readonly slug?: string | undefined
  readonly header: Header
  /** Where it lies (interface 18.1); the root unless given. */
  readonly folder?: string | null | undefined
  /** Creates a variant too, and its first revision if there is a payload: the simple create (interface 4.1, 4.10). */
  readonly withVariant?: { readonly revision?: FirstContent | undefined } | undefined
  /** The folder in which packs of the revision's payload are staged. */
  readonly aside?: NewFolder
  readonly loc: readonly (string | number)[]
}

/**
 * Creates an artifact atomically: a new repository, with its first variant and revision if requested. Refuses a taken slug or id
 * (`slug_taken`, `id_taken`).
 */
export async function createArtifact(
  registry: Registry,
  family: Family,
  input: NewArtifact,
  context: WriteContext,
): Promise<ArtifactView> {
  return (await createWithRevision(registry, family, input, context)).artifact
}

/** A new artifact. */
export interface CreatedArtifact {
  readonly artifact: ArtifactView
  /** What happened to sent rows that are not in the first revision. */
  readonly met?: MetRows | undefined
}

/** Like createArtifact; also answers what the caller needs to know of the first revision. */
export async function createWithRevision(
  registry: Registry,
  family: Family,
  input: NewArtifact,
  context: WriteContext,
): Promise<CreatedArtifact> {
  assertUnguarded(family, { slug: input.slug ?? 'new', flags: input.header.flags }, context.actor)
  const earlier = await createdEarlier(registry, family, input, context)
  if (earlier) return earlier
  const ofName = input.header.name === undefined ? undefined : slugOfName(input.header.name)
  const base = input.slug ?? ofName ?? randomBytes(6).toString('hex')
  const folder = input.folder ? await spelledFolder(registry.whole, input.folder) : ''
  registry.limit?.assertIncludes(family.pins ? '' : folder)
  const create = async (): Promise<CreatedArtifact> => {
    const slug = input.slug ?? (await freeArtifactSlug(registry, family, base)) ?? base
    await assertArtifactSlugFree(registry, family, slug, input.loc)
    const id = await freeId(registry, input.id, context.artifactId)
    const variant = await freeVariantSlug(registry, family, slug)
    const { met, ...content } = await firstContent(registry, family, input, context, {
      id,
      slug,
      variant,
      folder,
    })
    const meta = content.refs.get(META_REF)
    const note = meta && context.attempt?.noteOf(repositoryDigits(id), META_REF, meta, met)
    const claims = claimsOfArtifact(family, { id, slug, variant: input.withVariant && variant })
    const noted = { ...content, notes: note ? [note] : [], claims }
    const repository = await registry.store.create(family.folder, slug, noted, input.aside)
    return { artifact: await registry.index.written(family, slug, repository), met }
  }
  const wanted = input.id === undefined ? [] : [repositoryDigits(input.id)]
  return registry.store.claimingSlugs(create, [`${family.folder}/${unnumbered(base)}`, ...wanted])
}

/** The artifact that an earlier attempt at this same write created. */
async function createdEarlier(
  registry: Registry,
  family: Family,
  input: NewArtifact,
  context: WriteContext,
): Promise<FinishedAttempt | undefined> {
  const id = input.id ?? context.artifactId
  if (id === undefined || context.attemptedAt === undefined) return undefined
  const found = await registry.index.findByDigits(id)
  if (found?.id !== id || found.family !== family) return undefined
  const earlier = await findEarlierAttempt(registry, found, META_REF, context)
  if (earlier) await registry.store.syncNames(family.folder)
  return earlier
}

async function firstContent(
  registry: Registry,
  family: Family,
  input: NewArtifact,
  context: WriteContext,
  names: Readonly<Record<'id' | 'slug' | 'variant' | 'folder', string>>,
): Promise<Parameters<typeof registry.store.create>[2] & Pick<CreatedArtifact, 'met'>> {
  const objects = new NewObjects(names.id, input.aside)
  const now = registry.now()
  const created = { created_at: now.toISOString(), created_by_id: context.actor.id }
  const { flags, ...described } = boundedHeader(input.header)
  const artifact = {
    id: names.id,
    kind: family.name,
    slug: names.slug,
    ...(names.folder === '' ? {} : { folder: names.folder }),
    ...described,
    ...(flags ? { flags } : {}),
    ...created,
  }
  const variant: VariantRecord = { ...described, name: described.name ?? names.variant, ...created }
  const variants = input.withVariant ? { [names.variant]: variant } : {}
  const state = { artifact, variants, tags: new Map<string, string>() }
  const commit = {
    tree: await writeArtifactState(objects, undefined, state, registry.limits),
    parents: [],
    message: `Create ${family.name} ${names.slug}`,
  }
  const refs = new Map([[META_REF, writeCommit(registry, objects, commit, context).oid]])
  let met: MetRows | undefined
  const draft = input.withVariant?.revision
  if (draft) {
    await assertPinsDeployable(registry, family, draft.payload, undefined)
    const first = { ...draft, artifact: names.slug, variant: names.variant, parent: undefined }
    const built = await buildRevision(registry, registry.revisions(family), objects, first, context)
    refs.set(`refs/heads/${names.variant}`, built.revision.oid)
    registry.revisions(family).keep(built.revision)
    met = built.met
  }
  return { objects: objects.all(), packs: objects.packs, refs, head: names.variant, met }
}

/**
 * The requested id, else the preferred one if it is free, else a new one. Its last twelve digits name the repository, and must be free in
 * the project.
 */
async function freeId(
  registry: Registry,
  wanted: string | undefined,
  preferred: string | undefined,
): Promise<string> {
  // If this server does not have every repository yet, fetches the one with this id.
  const asked = wanted ?? preferred
  if (registry.store.filling && asked !== undefined) await registry.index.findByDigits(asked)
  if (wanted !== undefined) {
    const isTrashed = (await registry.whole.trash.withDigits(wanted)) !== undefined
    if (!isTrashed && !registry.index.hasDigits(wanted)) return wanted
    const trashed = await registry.trash.withDigits(wanted)
    throw new Refusal(
      'id_taken',
      `The id ${wanted}, or another that ends in ${repositoryDigits(wanted)}, is taken. ${trashed ? `${inTrash(trashed).sentence} ` : ''}` +
        'Leave it out to get a free one.',
      { conflict: { id: wanted }, ...(trashed ? inTrash(trashed).when : {}) },
    )
  }
  let id = preferred ?? uuidv7()
  while (registry.index.hasDigits(id) || (await registry.whole.trash.withDigits(id))) id = uuidv7()
  return id
}

/** The objects of a repository that does not exist yet. */
export class NewObjects implements PayloadTarget {
  readonly #objects = new Map<Oid, GitObject & { readonly oid: Oid }>()

  write(kind: ObjectKind, bytes: Buffer): Oid {
    const oid = hashObject(kind, bytes)
    this.#objects.set(oid, { oid, kind, bytes })
    return oid
  }

  async read(oid: Oid): Promise<GitObject | undefined> {
    return this.#objects.get(oid)
  }

  readonly artifactId: string
  readonly packs: StagedPack[] = []
  readonly derived?: (name: string) => CacheFile

  /** `folder` is the folder in which the repository is prepared, if there is one. */
  constructor(artifactId: string, folder?: NewFolder) {
    this.artifactId = artifactId
    if (folder) this.derived = (name) => folder.derived(name)
  }

  adopt(pack: StagedPack): void {
    this.packs.push(pack)
  }

  async readMany(oids: readonly Oid[]): Promise<(GitObject | undefined)[]> {
    return oids.map((oid) => this.#objects.get(oid))
  }

  async startingWith(): Promise<readonly Oid[]> {
    return []
  }

  tips(): readonly Oid[] {
    return []
  }

  all(): (GitObject & { readonly oid: Oid })[] {
    return [...this.#objects.values()]
  }
}

import { isWithinLimits } from '../../base/folders.ts'
import { recentlyUsed } from '../../base/recently-used.ts'
import { Refusal } from '../../errors.ts'
import { type ArtifactView, findVariant } from '../artifacts/artifact-view.ts'
import type { Trash, Trashed } from '../artifacts/trash.ts'
import { pinnedRevision } from '../environments/pinned-revision.ts'
import { numberedBase } from '../slugs/slug.ts'
import { repositoryDigits } from './ids.ts'
import type { Pin } from './reference.ts'
import type { Registry, RegistryLimit } from './registry.ts'
import { entriesOf, fromEntries, getKey, isJsonObject, withKey } from '../../base/json.ts'
import type { Oid } from '../../git/objects.ts'
import type { Repository } from '../../git/store.ts'
import { documentOf } from '../payload/document-family.ts'
import type { Family, Payload } from '../payload/family.ts'
import type { RevisionCache, StoredRevision } from '../revisions/stored-revision.ts'
import type { ArtifactIndex, ListedRevision } from '../index/artifact-index.ts'
import type { IndexEntry } from '../index/index-entry.ts'
import { ArtifactList, type ListedArtifact } from '../index/index-tables.ts'
import { isOlder, type SlugClaim, type WantedSlug } from '../index/slug-table.ts'

const MOST_LIMITS = 1000

/** The limited registries of a project, by their folders. */
const known = new WeakMap<Registry, ReturnType<typeof recentlyUsed<string, Registry>>>()

/**
 * The registry as a key limited to these folders sees it (interface 18.6): the only door to a project for such a key. An artifact outside of
 * them is not there, for references, lists, revisions, slugs and the trash alike, so what is built on this registry cannot show it. Of
 * environments it has only the pins that lead to what the key sees. Answers the same object for the same folders.
 */
export function limitRegistry(whole: Registry, folders: readonly string[]): Registry {
  let registries = known.get(whole)
  if (!registries) known.set(whole, (registries = recentlyUsed(MOST_LIMITS, () => 1)))
  const name = folders.join('\n')
  let limited = registries.get(name)
  if (!limited) registries.set(name, (limited = makeLimited(whole, folders)))
  return limited
}

function makeLimited(whole: Registry, folders: readonly string[]): Registry {
  const sees: RegistryLimit['sees'] = ({ family, record }) =>
    family.pins !== undefined || isWithinLimits(record.folder ?? '', folders)
  const environments = new LimitedEnvironments((pin) => seesPin(limited, pin))
  const shown = (view: ArtifactView | undefined): ArtifactView | undefined => {
    if (!view || !sees(view)) return undefined
    return view.family.pins ? environments.of(view) : view
  }
  const limit: RegistryLimit = {
    whole,
    folders,
    sees,
    seesId: (id) => {
      const entry = whole.index.tables.withDigits(repositoryDigits(id))
      return entry !== undefined && sees(entry)
    },
    seesPin: (pin) => seesPin(limited, pin),
    assertIncludes: (folder) => {
      if (isWithinLimits(folder, folders)) return
      throw outside(
        `It may write to ${folders.map((it) => `"${it}"`).join(', ')}, and not to ${folder === '' ? 'the root' : `"${folder}"`}.`,
      )
    },
  }
  // All else is the whole registry's: the store, the families, the cached revisions, the settings.
  const limited = Object.create(whole, {
    limit: { value: limit },
    index: { value: limitedIndex(whole.index, { sees, shown }) },
    trash: { value: limitedTrash(whole.trash, sees) },
  }) as Registry
  return limited
}

/** The trash without what lay outside; what is free is asked of the whole one. */
function limitedTrash(trash: Trash, sees: RegistryLimit['sees']): Trash {
  const own = (trashed: Trashed | undefined): Trashed | undefined =>
    trashed && !trashed.artifact.family.pins && sees(trashed.artifact) ? trashed : undefined
  const limited: Partial<Trash> = {
    list: async () => (await trash.list()).filter((it) => own(it) !== undefined),
    withDigits: async (id) => own(await trash.withDigits(id)),
    holderOf: async (level, family, slug) => own(await trash.holderOf(level, family, slug)),
    oldestOf: async (family, wanted) => {
      const claim = await trash.oldestOf(family, wanted)
      return own(claim?.holder) && claim
    },
  }
  return limited as Trash // what is not named is for no such key
}

/** Whether a pin leads to what the key sees, and names nothing else. */
async function seesPin(limited: Registry, { key, references }: Pin): Promise<boolean> {
  const place = await pinnedRevision(limited, { key, references })
  if (!place || place instanceof Refusal) return false
  const { artifact } = place
  return [...references.values()].every(
    ({ id, slug }) =>
      (id === undefined || repositoryDigits(id) === artifact.digits) &&
      (slug === undefined || hasSlug(artifact, slug)),
  )
}

function hasSlug(artifact: ArtifactView, slug: string): boolean {
  const isVariant = (name: string): boolean => findVariant(artifact, name) !== undefined
  return (
    slug === artifact.slug ||
    artifact.tags.has(slug) ||
    isVariant(slug) ||
    isVariant(numberedBase(slug) ?? '')
  )
}

/** What a limited index shows of what the whole one has. */
interface Showing {
  sees(artifact: Pick<IndexEntry, 'family' | 'record'>): boolean
  /** The view as it is shown; undefined if it is not. */
  shown(view: ArtifactView | undefined): ArtifactView | undefined
}

/**
 * An index in which only some artifacts are: every question that leads from a reference to an artifact, or lists artifacts, is answered as
 * if the others did not exist. Whether a slug or an id is free is asked of all of them. What is not named here (loading, sweeping, watching)
 * is not for requests, and there is none of it.
 */
function limitedIndex(index: ArtifactIndex, { sees, shown }: Showing): ArtifactIndex {
  const found = async (find: () => Promise<ArtifactView | undefined>): Promise<ArtifactView | undefined> =>
    shown(await orNothing(find))
  const findByDigits: ArtifactIndex['findByDigits'] = (id) => found(() => index.findByDigits(id))
  const visible = (claims: Iterable<SlugClaim>): SlugClaim[] => [...claims].filter(({ entry }) => sees(entry))
  const oldest = (
    family: Family,
    wanted: readonly WantedSlug[],
    isMeant: (claim: SlugClaim) => boolean = () => true,
  ): SlugClaim | undefined =>
    wanted
      .flatMap(([level, slug]) => visible(index.claims(level, family, slug)))
      .filter(isMeant)
      .reduce<SlugClaim | undefined>((first, it) => (first && !isOlder(it, first) ? first : it), undefined)
  const limitedList = ({ rows }: ArtifactList): ArtifactList =>
    new ArtifactList([...rows].filter(sees).map((row) => (row.family.pins ? rowShown(row, shown) : row)))

  const limited: Partial<ArtifactIndex> = {
    get age() {
      return index.age
    },
    get generation() {
      return index.generation
    },
    get database() {
      return index.database
    },
    findByDigits,
    findAfresh: (id) => found(() => index.findAfresh(id)),
    findBySlug: (family, slug) => found(() => index.findBySlug(family, slug)),
    viewAt: (path) => shown(index.viewAt(path)),
    isUnchangedSince: (generation, view) => index.isUnchangedSince(generation, view),
    oldestClaim: async (family, wanted) => {
      // Takes in every new artifact, whether the key sees it or not.
      await orNothing(() => index.oldestClaim(family, wanted))
      const claim = oldest(family, wanted)
      const artifact = claim && (await findByDigits(claim.entry.id))
      return artifact && claim && { artifact, since: claim.since }
    },
    olderClaim: async (family, wanted, own) => {
      await index.olderClaim(family, wanted, own)
      const claim = oldest(
        family,
        wanted,
        ({ entry: { id }, since }) =>
          id !== own.id && (since < own.since || (since === own.since && id < own.id)),
      )
      return claim && { ...claim, artifact: claim.entry.slug }
    },
    isTaken: (level, family, slug) => index.isTaken(level, family, slug),
    hasDigits: (id) => index.hasDigits(id),
    alike: (level, family, slug) => visible(index.alike(level, family, slug)),
    *claims(level, family, slug) {
      yield* visible(index.claims(level, family, slug))
    },
    // What is near to a name may be what the name is of.
    near: async () => [],
    list: async (family) => limitedList(await index.list(family)),
    seen: (family) => limitedList(index.seen(family)),
    refresh: (families) => index.refresh(families),
    revisions: async (family, question) => listed(await index.revisions(family, question), shown),
    unreadable: (question) => {
      const { unreadable, areAll } = index.unreadable(question)
      const own = unreadable.filter(({ artifact }) => sees(artifact))
      return { unreadable: own, areAll: areAll && own.length > 0 && own.length === unreadable.length }
    },
    leftOut: (artifact, reason) => index.leftOut(artifact, reason),
    written: async (family, slug, made) => {
      const view = await index.written(family, slug, made)
      return shown(view) ?? view
    },
  }
  return limited as ArtifactIndex // see above
}

/** A repository that cannot be read lies in no folder that anybody could tell: it is not there for such a key. */
async function orNothing<T>(find: () => Promise<T | undefined>): Promise<T | undefined> {
  try {
    return await find()
  } catch (error) {
    if (error instanceof Refusal && error.code === 'damaged_repository') return undefined
    throw error
  }
}

async function* listed(
  rows: AsyncIterable<ListedRevision>,
  shown: Showing['shown'],
): AsyncGenerator<ListedRevision> {
  for await (const row of rows) {
    const artifact = shown(row.artifact)
    if (artifact) yield { ...row, artifact }
  }
}

function rowShown(row: ListedArtifact, shown: Showing['shown']): ListedArtifact {
  const { family, slug, id, createdAt, record } = row
  return {
    family,
    slug,
    id,
    createdAt,
    record,
    mayHold: (json) => row.mayHold(json),
    mayHaveRef: (ref) => row.mayHaveRef(ref),
    get view() {
      const { view } = row
      return shown(view) ?? view
    },
  }
}

/**
 * Views of environments for a key that is limited to folders. Their revisions hold only the pins that it sees, and none of what people
 * wrote about others. Everything else of their repositories is closed: no file, no write (interface 18.9).
 */
class LimitedEnvironments {
  readonly #seesPin: (pin: Pin) => Promise<boolean>
  readonly #views = new WeakMap<ArtifactView, ArtifactView>()

  constructor(seesPin: (pin: Pin) => Promise<boolean>) {
    this.#seesPin = seesPin
  }

  /** The limited view of an environment; the same object for the same view. */
  of(whole: ArtifactView): ArtifactView {
    let view = this.#views.get(whole)
    if (!view) {
      view = { ...whole, whole, revisions: this.#revisionsOf(whole), repository: closed(whole.repository) }
      this.#views.set(whole, view)
    }
    return view
  }

  /** Reads the environment's revisions from the whole view, whatever reader is passed, and leaves out what is not to be seen. */
  #revisionsOf({ family, revisions, repository: { objects } }: ArtifactView): RevisionCache {
    const limited: Pick<RevisionCache, keyof RevisionCache> = {
      family,
      read: async (_, oid) => this.#limited(family, await revisions.read(objects, oid)),
      readForList: async (_, oid, signal) =>
        this.#limited(family, await revisions.readForList(objects, oid, signal)),
      readOutline: async (_, oid, signal) =>
        this.#limited(family, await revisions.readForList(objects, oid, signal)),
      readCommit: async (_, oid) => this.#limited(family, await revisions.readCommit(objects, oid)),
      known: () => undefined,
      keep: () => undefined,
    }
    return limited as RevisionCache // it has all that is public
  }

  async #limited(family: Family, stored: StoredRevision): Promise<StoredRevision> {
    const { oid, commit, trailers, payload, damage, size } = stored
    return {
      oid,
      commit: { ...commit, message: '' },
      // A message may be about any of the pins.
      message: undefined,
      subject: SUBJECT,
      trailers: trailers.variant === undefined ? {} : { variant: trailers.variant },
      header: {},
      payload: payload === undefined ? undefined : await this.#seenOf(family, payload),
      size,
      ...(damage ? { damage: new Refusal(damage.code, `The revision ${oid} cannot be read.`) } : {}),
    }
  }

  async #seenOf(family: Family, payload: Payload): Promise<Payload> {
    const data = documentOf(payload)
    const references = getKey(data, 'references')
    if (!isJsonObject(references)) return payload
    const seen = new Set<string>()
    for (const pin of family.pins?.(payload) ?? []) if (await this.#seesPin(pin)) seen.add(pin.key)
    return withKey(data, 'references', fromEntries(entriesOf(references).filter(([key]) => seen.has(key))))
  }
}

const SUBJECT = 'Deployments'

/** The repository as far as a view needs it: its refs, its history, and the bytes of commits, by which signatures are checked. */
function closed(repository: Repository): Repository {
  const { fs, path, objects, refs } = repository
  const refuse = (): never => {
    throw outside(
      'Of an environment it sees what runs of its own; all else, and its repository, is closed to it.',
    )
  }
  const open = {
    fs,
    path,
    refs,
    get history() {
      return repository.history
    },
    objects: {
      gitdir: objects.gitdir,
      read: async (oid: Oid) => {
        const object = await objects.read(oid)
        return object && object.kind !== 'commit' ? refuse() : object
      },
      readMany: refuse,
      has: (oid: Oid) => objects.has(oid),
      startingWith: refuse,
    },
    transact: refuse,
    exclusive: refuse,
    receive: refuse,
    packBuilder: refuse,
  }
  // A view's readers need no more of it, and what is not named here is for no such key.
  return open as unknown as Repository
}

/** The refusal of a write, or a look, outside of the folders of a key (interface 18.7). */
function outside(why: string): Refusal {
  return new Refusal('outside_folders', `This key is limited to folders. ${why}`)
}

import { NIL } from 'uuid'
import { Refusal } from '../../errors.ts'
import { assertWhole, BUILD_PREFIX } from '../../git/store.ts'
import { parseCommit } from '../../git/objects.ts'
import { type RepositoryCopy, buildCopy, placeCopy } from '../../git/program.ts'
import { type AllRefs, isSameRefs, readAllRefs, replaceRefs, assertRef } from '../../git/refs.ts'
import { identityName, thisProcess } from '../../storage/files.ts'
import { META_REF, readArtifactState } from './artifact-record.ts'
import type { ArtifactView } from './artifact-view.ts'
import type { PushLimits } from '../push/check-pushed-objects.ts'
import { checkRestored } from './check-restored.ts'
import type { Family } from '../payload/family.ts'
import { RefRefused } from '../push/ref-command.ts'
import type { Registry } from '../store/registry.ts'
import { assertSlug, foldSlug } from '../slugs/slug.ts'
import { isRecordOnly } from '../slugs/record-claims.ts'
import { claimsOfRestored } from '../index/slug-table.ts'
import { inTrash } from './trash.ts'
import { readBytes } from '../payload/tree-files.ts'
import { pinsAt } from '../environments/environments.ts'
import { objectUuid } from '../store/ids.ts'
import { defaultKey, referencesTo } from '../environments/pin.ts'
import { latestOf } from '../revisions/revision.ts'

/** What a restore did with one repository. */
export type Restored = 'restored' | 'replaced' | 'there'

/** A repository to restore, by its family and slug. */
export interface RestoredRepository extends RepositoryCopy {
  readonly family: Family
  readonly slug: string
  readonly limits: PushLimits
}

/**
 * Restores a repository from a backup in one step, after checking a copy of it (see checkRestored). A refused
 * one (`invalid_file`, `slug_taken`, `id_taken`) leaves nothing behind. An existing repository stays if it
 * has the same history, and is replaced if it is a seeded environment that was never changed; any other is
 * refused with `slug_taken`.
 */
export async function restoreArtifact(registry: Registry, backup: RestoredRepository): Promise<Restored> {
  const { store } = registry
  const { fs } = store
  const { family, slug } = backup
  assertSlug(slug, ['slug'])
  assertWhole(store)
  assertRef('HEAD', backup.refs.head)
  const refs = withoutReplacements(backup.refs)
  const copy = { ...backup, refs }
  const folder = `${store.folder}/${family.folder}`
  const there = store.exists(family.folder, slug) ? readAllRefs(fs, `${folder}/${slug}.git`) : undefined
  const other = there && differenceOf(await withoutRecord(registry, family, slug, there, refs), refs)
  if (there && other === undefined) return 'there'
  if (there && !(await isOnlySeeded(registry, family, slug, there))) throw taken(other ?? '')
  fs.makeDir(folder)
  await fs.syncDir(store.folder)
  const aside = await buildCopy(fs, folder, copy)
  try {
    const view = await judged(registry, aside, copy)
    return await store.claimingSlugs(async () => {
      if (!there) await assertFree(registry, family, slug)
      await assertIdFree(registry, view, there && (await registry.index.findBySlug(family, slug)))
      const mirrors = await confirmedMirrors(registry, view, refs)
      await replaceRefs(fs, aside, mirrors)
      const claims = claimsOfRestored(view, there !== undefined)
      const decided = await store.admit(family.folder, slug, aside, { refs: mirrors, there, claims })
      try {
        if (there) await replaceSeeded(registry, family, slug, { aside, there })
        else await placeCopy(fs, aside, folder, `${slug}.git`)
      } catch (error) {
        await decided.withdraw()
        throw error
      }
      decided.complete()
      await registry.index.written(family, slug)
      return there ? 'replaced' : 'restored'
    })
  } catch (error) {
    fs.removeTree(aside)
    throw error
  }
}

/** Checks the copy and returns its view. */
async function judged(registry: Registry, aside: string, copy: RestoredRepository): Promise<ArtifactView> {
  const { repository, close } = registry.store.openAside(aside)
  try {
    return await checkRestored(registry, repository, copy)
  } catch (error) {
    const isOfTheBackup =
      error instanceof RefRefused || (error instanceof Refusal && error.code === 'damaged_repository')
    if (!isOfTheBackup) throw error
    const sentence = error.message.replaceAll(aside, `${copy.slug}.git`)
    throw new Refusal('invalid_file', `The backup cannot be restored: ${sentence}`)
  } finally {
    close()
  }
}

/** A slug is unique in a project, ignoring case (interface 4.9), even if its repository is not served. */
async function assertFree(registry: Registry, family: Family, slug: string): Promise<void> {
  const { name, folder } = family
  const { store, trash } = registry
  const trashed = await trash.holderOf('artifact', family, slug)
  if (trashed) {
    const { sentence, when } = inTrash(trashed)
    throw new Refusal('slug_taken', `The ${name} slug "${slug}" is taken in this project. ${sentence}`, {
      conflict: { slug },
      ...when,
    })
  }
  trash.assertFolderFree(family, slug)
  const rival = store.slugs(folder).find((it) => foldSlug(it) === foldSlug(slug))
  if (rival === undefined) return
  throw new Refusal(
    'slug_taken',
    `The ${name} slug "${slug}" is taken in this project, by "${rival}". Restore it under another slug, or move that one away first.`,
    { conflict: { slug: rival } },
  )
}

/**
 * An id leads to one artifact. A replaced environment frees its id, and a copy (`cp -r`) gives way to its
 * original.
 */
async function assertIdFree(
  registry: Registry,
  view: ArtifactView,
  replaced: ArtifactView | undefined,
): Promise<void> {
  const trashed = await registry.trash.withDigits(view.id)
  if (trashed) {
    const { sentence, when } = inTrash(trashed)
    throw new Refusal('id_taken', `An artifact is restored once. ${sentence}`, {
      conflict: { id: view.id, slug: trashed.artifact.slug },
      ...when,
    })
  }
  const holder = registry.index.hasDigits(view.id) ? await registry.index.findByDigits(view.id) : undefined
  if (!holder || holder === replaced) return
  if (view.record.slug === view.slug && holder.record.slug !== holder.slug) return
  throw new Refusal(
    'id_taken',
    `The ${holder.family.name} "${holder.slug}" of this project has the id ${holder.id}, which the backup has, too, or one that ends like it. ` +
      `An artifact is restored once; fork it, or restore it into another project.`,
    { conflict: { id: holder.id, slug: holder.slug } },
  )
}

async function replaceSeeded(
  { store: { fs, folder } }: Registry,
  family: Family,
  slug: string,
  { aside, there }: { readonly aside: string; readonly there: AllRefs },
): Promise<void> {
  const path = `${folder}/${family.folder}/${slug}.git`
  // A start sweeps files with this prefix if this process is dead.
  const seeded = `${folder}/${family.folder}/${BUILD_PREFIX}${identityName(thisProcess())}.seeded-${slug}`
  fs.rename(path, seeded)
  if (!isSameRefs(readAllRefs(fs, seeded), there)) {
    fs.rename(seeded, path)
    throw taken('it was written to just now')
  }
  fs.rename(aside, path)
  await fs.syncDir(`${folder}/${family.folder}`)
  fs.removeTree(seeded)
}

/** Leaves out replacement refs, which would make git show another history. */
function withoutReplacements({ refs, head }: AllRefs): AllRefs {
  return { refs: new Map([...refs].filter(([name]) => !name.startsWith(REPLACEMENTS))), head }
}

const REPLACEMENTS = 'refs/replace/'

/**
 * The first difference between the existing history and a backup. Ignores refs that follow from environments,
 * and refs that are not restored.
 */
export function differenceOf(there: AllRefs, restored: AllRefs): string | undefined {
  if (there.head !== restored.head) return `HEAD holds "${there.head}", in the backup "${restored.head}"`
  const names = [...new Set([...there.refs.keys(), ...restored.refs.keys()])].sort()
  const ref = names.find(
    (name) =>
      !name.startsWith('refs/environments/') &&
      !name.startsWith(REPLACEMENTS) &&
      there.refs.get(name) !== restored.refs.get(name),
  )
  if (ref === undefined) return undefined
  const [here, inBackup] = [there, restored].map(({ refs }) => refs.get(ref)?.slice(0, 12) ?? 'absent')
  return `${ref} is ${here}, in the backup ${inBackup}`
}

/**
 * The existing refs without the commit in which a server recorded the backup's branches and tags. The server makes it shortly after a
 * restore, so a repeated restore would otherwise find different content.
 */
async function withoutRecord(
  { store }: Registry,
  family: Family,
  slug: string,
  there: AllRefs,
  restored: AllRefs,
): Promise<AllRefs> {
  const [meta, before] = [there, restored].map(({ refs }) => refs.get(META_REF))
  if (meta === undefined || before === undefined || meta === before) return there
  const { objects } = store.repository(family.folder, slug)
  const commit = parseCommit(await readBytes(objects, meta, 'commit'))
  if (!isRecordOnly(commit) || commit.parents.length !== 1 || commit.parents[0] !== before) return there
  return { ...there, refs: new Map(there.refs).set(META_REF, before) }
}

/** Whether it was seeded, not made with a key, and never changed. */
async function isOnlySeeded(
  { store, environments }: Registry,
  family: Family,
  slug: string,
  { refs }: AllRefs,
): Promise<boolean> {
  const meta = refs.get(META_REF)
  if (family !== environments || meta === undefined || refs.size > 1) return false
  const { objects } = store.repository(family.folder, slug)
  if (parseCommit(await readBytes(objects, meta, 'commit')).parents.length > 0) return false
  return (await readArtifactState(objects, meta)).artifact.created_by_id === NIL
}

function taken(difference: string): Refusal {
  return new Refusal(
    'slug_taken',
    `It is in the store with other content than in the backup (${difference}). Restore into an empty store, or move it away first.`,
  )
}

const MIRRORS = 'refs/environments/'

/** The artifact that refs belong to. */
interface MirroredArtifact {
  readonly family: Family
  readonly slug: string
  readonly digits: string
}

/**
 * Drops refs that say what environments run unless the environments confirm them: environments are
 * authoritative, and missing mirrors are recreated (see Mirrors).
 */
async function confirmedMirrors(
  registry: Registry,
  { family, slug, digits }: MirroredArtifact,
  { refs, head }: AllRefs,
): Promise<AllRefs> {
  const confirmed = new Map([...refs].filter(([name]) => !name.startsWith(MIRRORS)))
  for (const [name, oid] of refs) {
    if (!name.startsWith(MIRRORS)) continue
    const running = await runningIn(registry, name.slice(MIRRORS.length), { family, slug })
    if (running === objectUuid(oid, digits)) confirmed.set(name, oid)
  }
  return { refs: confirmed, head }
}

/**
 * The id of the artifact's revision that the environment runs; undefined if it runs none, or cannot be read
 * now.
 */
async function runningIn(
  registry: Registry,
  environment: string,
  { family, slug }: Pick<MirroredArtifact, 'family' | 'slug'>,
): Promise<string | undefined> {
  try {
    const artifact = await registry.index.findBySlug(registry.environments, environment)
    const latest = artifact?.defaultVariant && (await latestOf(artifact, artifact.defaultVariant))
    const pins = latest ? await pinsAt(latest) : []
    const pin = pins.find(({ key }) => key === defaultKey(slug))
    return pin && referencesTo(family, pin)?.revision?.id
  } catch (error) {
    if (error instanceof Refusal) return undefined
    throw error
  }
}

import { NIL } from 'uuid'
import { Refusal } from '../errors.ts'
import type { AllRefs } from '../git/all-refs.ts'
import { isSameRefs, readAllRefs } from '../git/all-refs.ts'
import { parseCommit } from '../git/commit.ts'
import type { RepositoryCopy } from '../git/copy-repository.ts'
import { copyRepository } from '../git/copy-repository.ts'
import { BUILD_PREFIX } from '../git/create-repository.ts'
import { identityName, thisProcess } from '../git/process-identity.ts'
import type { ProjectStore } from '../git/store.ts'
import { META_REF, readArtifactState } from './artifact-state.ts'
import { assertSlug } from './slugs.ts'
import { readBytes } from './tree-files.ts'

/** What a restore did with one repository. */
export type Restored = 'restored' | 'replaced' | 'there'

/** A repository to bring back, by its family's folder and its slug. */
export interface RestoredRepository extends RepositoryCopy {
  readonly family: string
  readonly slug: string
}

/**
 * Brings a repository back from a backup, in one step. One that is there already stays as it is if it has the same history, and gives way
 * if it is an environment that nobody but the seeding has touched; any other is refused with `slug_taken`.
 */
export async function restoreArtifact(store: ProjectStore, copy: RestoredRepository): Promise<Restored> {
  const { fs } = store
  const { family, slug, refs } = copy
  assertSlug(slug, ['slug'])
  const folder = `${store.folder}/${family}`
  if (!store.exists(family, slug)) {
    fs.makeDir(folder)
    await fs.syncDir(store.folder)
    await copyRepository(fs, folder, `${slug}.git`, copy)
    return 'restored'
  }
  const there = readAllRefs(fs, `${folder}/${slug}.git`)
  const other = differenceOf(there, refs)
  if (other === undefined) return 'there'
  if (!(await isOnlySeeded(store, family, slug, there))) throw taken(other)
  // Names that a start sweeps when we are dead.
  const own = `${BUILD_PREFIX}${identityName(thisProcess())}`
  const [fresh, seeded] = [`${folder}/${own}.restored-${slug}`, `${folder}/${own}.seeded-${slug}`]
  await copyRepository(fs, folder, `${own}.restored-${slug}`, copy)
  try {
    fs.rename(`${folder}/${slug}.git`, seeded)
    if (!isSameRefs(readAllRefs(fs, seeded), there)) {
      fs.rename(seeded, `${folder}/${slug}.git`)
      throw taken('it was written to just now')
    }
    fs.rename(fresh, `${folder}/${slug}.git`)
  } catch (error) {
    fs.removeTree(fresh)
    throw error
  }
  await fs.syncDir(folder)
  fs.removeTree(seeded)
  return 'replaced'
}

/** What differs first between the history that is there and the one in a backup; what follows from environments does not count. */
export function differenceOf(there: AllRefs, restored: AllRefs): string | undefined {
  if (there.head !== restored.head) return `HEAD holds "${there.head}", in the backup "${restored.head}"`
  const names = [...new Set([...there.refs.keys(), ...restored.refs.keys()])].sort()
  const ref = names.find(
    (name) => !name.startsWith('refs/environments/') && there.refs.get(name) !== restored.refs.get(name),
  )
  if (ref === undefined) return undefined
  const [here, inBackup] = [there, restored].map(({ refs }) => refs.get(ref)?.slice(0, 12) ?? 'absent')
  return `${ref} is ${here}, in the backup ${inBackup}`
}

/** Whether it was made by no key, and nothing happened to it since. */
async function isOnlySeeded(
  store: ProjectStore,
  family: string,
  slug: string,
  { refs }: AllRefs,
): Promise<boolean> {
  const meta = refs.get(META_REF)
  if (family !== 'environments' || meta === undefined || refs.size > 1) return false
  const { objects } = store.repository(family, slug)
  if (parseCommit(await readBytes(objects, meta, 'commit')).parents.length > 0) return false
  return (await readArtifactState(objects, meta)).artifact.created_by_id === NIL
}

function taken(difference: string): Refusal {
  return new Refusal(
    'slug_taken',
    `It is in the store with other content than in the backup (${difference}). Restore into an empty store, or move it away first.`,
  )
}

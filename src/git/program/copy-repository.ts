import { Refusal } from '../../errors.ts'
import type { Fs } from '../../storage/files.ts'
import { BARE_CONFIG, buildFolder } from '../store/create-repository.ts'
import type { AllRefs } from '../refs/list-refs.ts'
import { replaceRefs } from '../refs/packed-refs.ts'
import type { FetchSource } from './fetch-objects.ts'
import { fetchObjects } from './fetch-objects.ts'

/** The refs of a copy, and the source of their objects. */
export interface RepositoryCopy {
  readonly refs: AllRefs
  readonly source: FetchSource
  readonly signal?: AbortSignal | undefined
}

/**
 * Creates a bare repository at `folder/name` with only these refs and what they reach: no hooks, no config of the source, no shared files.
 * Built in a temporary folder, synced, and renamed as a whole, as createRepository does. Refuses a taken name with `slug_taken`.
 */
export async function copyRepository(
  fs: Fs,
  folder: string,
  name: string,
  copy: RepositoryCopy,
): Promise<void> {
  const aside = await buildCopy(fs, folder, copy)
  try {
    await placeCopy(fs, aside, folder, name)
  } catch (error) {
    fs.removeTree(aside)
    throw error
  }
}

/** Builds the copy in `folder` under a temporary name; answers its path. If this process dies, the next start removes it. */
export async function buildCopy(
  fs: Fs,
  folder: string,
  { refs, source, signal }: RepositoryCopy,
): Promise<string> {
  const aside = buildFolder(fs, folder)
  try {
    await fs.createSynced(`${aside}/config`, Buffer.from(BARE_CONFIG))
    // git recognises a repository only with these.
    fs.create(`${aside}/HEAD`, Buffer.from('ref: refs/heads/main\n'))
    fs.makeDir(`${aside}/refs`)
    await fetchObjects(fs, aside, source, refs.refs.values(), signal)
    await replaceRefs(fs, aside, refs)
    await Promise.all([`${aside}/objects`, `${aside}/refs`].map((path) => fs.syncDir(path)))
    return aside
  } catch (error) {
    fs.removeTree(aside)
    throw error
  }
}

/** Renames a copy to its final name; refuses a taken one with `slug_taken`. */
export async function placeCopy(fs: Fs, aside: string, folder: string, name: string): Promise<void> {
  try {
    fs.rename(aside, `${folder}/${name}`)
    await fs.syncDir(folder)
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error
    throw new Refusal('slug_taken', `${folder}/${name} exists already.`)
  }
}

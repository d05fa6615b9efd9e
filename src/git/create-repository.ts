import { counts } from '../metrics/counters.ts'
import { Refusal } from '../errors.ts'
import type { Fs } from '../storage/fs.ts'
import type { GitObject, Oid } from './objects/object.ts'
import { encodePackAside } from './packs/pack-writer.ts'
import { assertRef } from './refs/ref-name.ts'
import { areMany, stageObjects } from './transactions/stage-objects.ts'
import type { StagedPack } from './transactions/pack-staging.ts'
import { identityName, thisProcess } from '../storage/process-identity.ts'

/** What a new repository holds from its first moment. */
export interface NewRepository {
  readonly objects: readonly (GitObject & { readonly oid: Oid })[]
  readonly refs: ReadonlyMap<string, Oid>
  /** Packs staged in the folder where the repository is built. */
  readonly packs?: readonly StagedPack[]
  /** The branch HEAD names, which may not exist yet. */
  readonly head: string
}

/** The config of every repository made here; another one is read by the rules of git-config(1). */
export const BARE_CONFIG = '[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n'

/** Prefix of the folders in which repositories are built aside; one whose process is dead is rubbish. */
export const BUILD_PREFIX = '.new-'

let builds = 0

/** A folder in which a repository is about to be built, for packs to be staged there first. */
export function buildFolder(fs: Fs, folder: string): string {
  const aside = `${folder}/${BUILD_PREFIX}${identityName(thisProcess())}.${++builds}`
  fs.makeDir(`${aside}/objects/pack`)
  return aside
}

/**
 * Makes a bare repository at `folder/name` in one step: built aside with its first objects in one pack and its refs
 * packed, everything synced, then renamed in whole; in the folder `aside` if packs were staged there. After a crash it is there or it is not. Refuses a taken name with
 * `slug_taken`. About 36 KB on disk: four folders, five small files, no hooks.
 */
export async function createRepository(
  fs: Fs,
  folder: string,
  name: string,
  content: NewRepository,
  aside = buildFolder(fs, folder),
): Promise<void> {
  try {
    for (const [ref, oid] of content.refs) assertRef(ref, oid)
    assertRef('HEAD', `ref: refs/heads/${content.head}`)
    fs.makeDir(`${aside}/refs`)
    for (const staged of content.packs ?? []) {
      staged.publish()
      // Nobody sees the repository yet, so nobody has to be told to keep it.
      staged.release()
    }
    await Promise.all([
      writePack(fs, aside, content.objects),
      fs.createSynced(`${aside}/HEAD`, Buffer.from(`ref: refs/heads/${content.head}\n`)),
      fs.createSynced(`${aside}/config`, Buffer.from(BARE_CONFIG)),
      fs.createSynced(`${aside}/packed-refs`, Buffer.from(packedRefs(content.refs))),
    ])
    const folders = [`${aside}/objects/pack`, `${aside}/objects`, `${aside}/refs`, aside]
    await Promise.all(folders.map((path) => fs.syncDir(path)))
    fs.rename(aside, `${folder}/${name}`)
    await fs.syncDir(folder)
    for (const { kind } of content.objects) if (kind === 'commit') counts.commits++
  } catch (error) {
    fs.removeTree(aside)
    const code = (error as NodeJS.ErrnoException).code
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error
    throw new Refusal('slug_taken', `${name} exists in the store already. Choose another slug.`)
  }
}

async function writePack(fs: Fs, gitdir: string, objects: NewRepository['objects']): Promise<void> {
  if (areMany(objects)) {
    const staged = await stageObjects(fs, gitdir, objects)
    staged.publish()
    staged.release()
    return
  }
  const { name, pack, index } = await encodePackAside(objects)
  await Promise.all([
    fs.createSynced(`${gitdir}/objects/pack/${name}.pack`, pack),
    fs.createSynced(`${gitdir}/objects/pack/${name}.idx`, index),
  ])
}

/** git-pack-refs(1): sorted by name; none of ours is an annotated tag, so nothing is peeled. */
function packedRefs(refs: ReadonlyMap<string, Oid>): string {
  const lines = [...refs].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, oid]) => `${oid} ${name}\n`)
  return `# pack-refs with: peeled fully-peeled sorted \n${lines.join('')}`
}

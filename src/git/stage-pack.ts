import type { Fs } from './fs.ts'
import type { PackableObject } from './pack-writer.ts'
import { encodePack } from './pack-writer.ts'
import { identityName, parseIdentity, isDead, thisProcess } from './process-identity.ts'

/** A pack on the disk that nobody sees yet. */
export interface StagedPack {
  /**
   * Gives pack and index their names; resolves when the names are on the disk. A `.keep` file beside them tells a
   * `git repack -ad` that runs just now to leave the pack alone although no ref needs it yet (git-index-pack(1)).
   */
  publish(): Promise<void>
  /** The refs that need the pack have moved: removes the `.keep`. */
  release(): void
  /** Forgets the pack; what was published stays as objects that nothing needs. */
  discard(): void
  /** `pack-<hash>`; undefined for a pack of no objects, which is not written. */
  readonly name: string | undefined
}

const self = identityName(thisProcess())
let staged = 0

/** Writes the objects as one pack under temporary names that git ignores (and its gc removes), synced. */
export async function stagePack(
  fs: Fs,
  gitdir: string,
  objects: readonly PackableObject[],
): Promise<StagedPack> {
  if (objects.length === 0) return NOTHING
  const folder = `${gitdir}/objects/pack`
  const { name, pack, index } = encodePack(objects)
  const temporary = `${folder}/tmp_${self}.${++staged}`
  const keep = `${folder}/${name}.keep`
  let isKept = false
  const release = (): void => {
    if (isKept) fs.remove(keep)
  }
  const discard = (): void => {
    fs.remove(`${temporary}_pack`)
    fs.remove(`${temporary}_idx`)
    release()
  }
  const writes = [fs.createSynced(`${temporary}_pack`, pack), fs.createSynced(`${temporary}_idx`, index)]
  // Both have to be over before what failed is cleaned up.
  await Promise.allSettled(writes)
  try {
    await Promise.all(writes)
  } catch (error) {
    discard()
    throw error
  }
  return {
    name,
    release,
    discard,
    publish: async () => {
      // A pack of this name that somebody keeps already stays theirs to release.
      if (!fs.stat(keep)) {
        fs.create(keep, Buffer.from(`${self}\n`))
        isKept = true
      }
      // The pack before its index: a pack without an index is invisible, an index without a pack is damage.
      fs.rename(`${temporary}_pack`, `${folder}/${name}.pack`)
      fs.rename(`${temporary}_idx`, `${folder}/${name}.idx`)
      await fs.syncDir(folder)
    },
  }
}

/** Removes what dead processes of this host staged and never published, and the `.keep` of what they did publish. */
export function sweepStagedPacks(fs: Fs, gitdir: string): void {
  for (const name of fs.readDir(`${gitdir}/objects/pack`) ?? []) {
    const path = `${gitdir}/objects/pack/${name}`
    const owner = name.endsWith('.keep')
      ? fs.readFile(path)?.toString('utf8').trimEnd()
      : name.startsWith('tmp_')
        ? name.slice('tmp_'.length)
        : undefined
    const identity = owner === undefined ? undefined : parseIdentity(owner)
    if (identity && isDead(identity)) fs.remove(path)
  }
}

const NOTHING: StagedPack = {
  name: undefined,
  publish: async () => undefined,
  release: () => undefined,
  discard: () => undefined,
}

import type { Fs } from './fs.ts'
import type { PackableObject } from './pack-writer.ts'
import { encodePack } from './pack-writer.ts'
import { identityName, parseIdentity, isDead, thisProcess } from './process-identity.ts'

/** A pack on the disk that nobody sees yet. */
export interface StagedPack {
  /** Gives pack and index their names; resolves when the names are on the disk. */
  publish(): Promise<void>
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
  const discard = (): void => {
    fs.remove(`${temporary}_pack`)
    fs.remove(`${temporary}_idx`)
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
    discard,
    publish: async () => {
      // The pack before its index: a pack without an index is invisible, an index without a pack is damage.
      fs.rename(`${temporary}_pack`, `${folder}/${name}.pack`)
      fs.rename(`${temporary}_idx`, `${folder}/${name}.idx`)
      await fs.syncDir(folder)
    },
  }
}

/** Removes what dead processes of this host staged and never published. */
export function sweepStagedPacks(fs: Fs, gitdir: string): void {
  for (const name of fs.readDir(`${gitdir}/objects/pack`) ?? []) {
    if (!name.startsWith('tmp_')) continue
    const owner = parseIdentity(name.slice('tmp_'.length))
    if (owner && isDead(owner)) fs.remove(`${gitdir}/objects/pack/${name}`)
  }
}

const NOTHING: StagedPack = { name: undefined, publish: async () => undefined, discard: () => undefined }

import { dirname } from 'node:path/posix'
import { threadId } from 'node:worker_threads'
import type { Fs } from '../../storage/fs.ts'
import { identityName, isDead, parseIdentity, thisProcess } from '../../storage/process-identity.ts'
import { settleAll } from '../../storage/settle-all.ts'
import type { EncodedPack, PackableObject } from '../packs/pack-writer.ts'
import type { LargePack } from './arbiter.ts'
import { encodePackAside } from '../packs/pack-writer.ts'

/** A pack under temporary names that nobody sees yet. */
export interface StagedPack {
  /** `pack-<hash>`; undefined for a pack of no objects, which is not written. */
  readonly name: string | undefined
  /** The bytes of a small pack, which is not synced: a journal has to keep them. Undefined for one that is. */
  readonly unsynced: { readonly pack: Buffer; readonly index: Buffer } | undefined
  /** Where the pack lies now, if it was written. */
  readonly path: string
  /** Writes the files of a small pack, which nobody sees yet; those of a large one are there. */
  stage(): void
  /**
   * Gives pack and index their names. A `.keep` file beside a synced one tells a `git repack -ad` that runs just now to leave
   * the pack alone although no ref needs it yet (git-index-pack(1)). May be called again, where the write is worked out anew.
   */
  publish(): void
  /** Resolves when the names are on the disk, and those of the folders above, which may be new as well; for a synced pack. */
  syncNames(): Promise<void>
  /** The refs that need the pack have moved: removes the `.keep`. */
  release(): void
  /** Forgets the pack; what was published stays as objects that nothing needs. */
  discard(): void
}

/** A pack larger than this is synced itself, rather than written a second time into a journal. */
const SMALL = 256 * 1024

/** The threads of a process number what they stage each by itself. */
const self = `${identityName(thisProcess())}.${threadId}`
let staged = 0

/**
 * Prepares the objects as one pack under temporary names that git ignores (and its gc removes). A large pack is on the disk
 * when this resolves.
 */
export async function stagePack(
  fs: Fs,
  gitdir: string,
  objects: readonly PackableObject[],
): Promise<StagedPack> {
  if (objects.length === 0) return nothingStaged
  const encoded = await encodePackAside(objects)
  return stageEncodedPack(fs, gitdir, encoded, { synced: encoded.pack.length > SMALL })
}

/** The same for a pack that is encoded already. */
export async function stageEncodedPack(
  fs: Fs,
  gitdir: string,
  { name, pack, index }: EncodedPack,
  { synced }: { readonly synced: boolean },
): Promise<StagedPack> {
  const staging = stagingFor(fs, gitdir)
  const writes = [
    [staging.packPath, pack],
    [staging.indexPath, index],
  ] as const
  if (!synced) return staging.staged(name, { pack, index })
  try {
    await settleAll([staging.keep(), ...writes.map(([path, bytes]) => fs.createSynced(path, bytes))])
  } catch (error) {
    staging.remove()
    throw error
  }
  return staging.staged(name, undefined)
}

/** Where a pack and its index are written before anybody may see them. */
export interface Staging {
  readonly packPath: string
  readonly indexPath: string
  /** Writes the `.keep` of a pack that is synced. */
  keep(): Promise<void>
  /** Removes what was written. */
  remove(): void
  /** Both files are complete and on the disk; or they will be when `stage` is called, with these bytes. */
  staged(name: string, unsynced: StagedPack['unsynced']): StagedPack
}

/** Temporary names in the repository that no other pack of this or another process has. */
export function stagingFor(fs: Fs, gitdir: string): Staging {
  const folder = `${gitdir}/objects/pack`
  // A copy may have left empty folders out, and git makes this one, too.
  if (!fs.stat(folder)) fs.makeDir(folder)
  const temporary = `${folder}/tmp_${self}.${++staged}`
  const packPath = `${temporary}_pack`
  const indexPath = `${temporary}_idx`
  const keepPath = `${temporary}_keep`
  const remove = (): void => {
    for (const path of [packPath, indexPath, keepPath]) fs.remove(path)
  }
  return {
    packPath,
    indexPath,
    // Synced like the pack: empty after a power cut, it would be nobody's, and nobody would ever remove it.
    keep: () => fs.createSynced(keepPath, Buffer.from(`${self}\n`)),
    remove,
    staged: (name, unsynced) => {
      const keep = `${folder}/${name}.keep`
      let isKept = false
      let isPublished = false
      const release = (): void => {
        try {
          if (isKept) fs.remove(keep)
        } catch {
          // The refs have moved: that must not look like a failure. A start sweeps what stays.
        }
      }
      return {
        name,
        unsynced,
        get path() {
          return isPublished ? `${folder}/${name}.pack` : packPath
        },
        stage: () => {
          if (!unsynced) return
          fs.create(packPath, unsynced.pack)
          fs.create(indexPath, unsynced.index)
        },
        publish: () => {
          if (isPublished) return
          // The refs follow a small pack within the same moment. A pack that somebody keeps already stays theirs to release.
          if (!unsynced) {
            isKept = !fs.stat(keep)
            if (isKept) fs.rename(keepPath, keep)
            else fs.remove(keepPath)
          }
          // The pack before its index: a pack without an index is invisible, an index without a pack is damage.
          fs.rename(packPath, `${folder}/${name}.pack`)
          fs.rename(indexPath, `${folder}/${name}.idx`)
          isPublished = true
        },
        syncNames: () => fs.syncAll([folder, ...namesAbovePacks(gitdir)]),
        release,
        discard: () => {
          remove()
          release()
        },
      }
    },
  }
}

/** The folders that hold the name of a repository's folder of packs, and those above up to the repository's own. */
export function namesAbovePacks(gitdir: string): string[] {
  return [`${gitdir}/objects`, gitdir, dirname(gitdir)]
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

/** Those of these packs that are on the disk, because they are large. */
export function largePacks(packs: readonly StagedPack[]): LargePack[] {
  return packs.filter((pack): pack is StagedPack & LargePack => pack.name !== undefined && !pack.unsynced)
}

/** What a pack of no objects is staged as: nothing. */
export const nothingStaged: StagedPack = {
  name: undefined,
  unsynced: undefined,
  path: '',
  stage: () => undefined,
  publish: () => undefined,
  syncNames: async () => undefined,
  release: () => undefined,
  discard: () => undefined,
}

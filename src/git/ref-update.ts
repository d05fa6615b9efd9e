import { dirname } from 'node:path/posix'
import { Refusal } from '../errors.ts'
import type { Fs } from './fs.ts'
import { prepareLock } from './lock.ts'
import type { HeldLock, PreparedLock } from './lock.ts'
import type { Oid } from './object.ts'
import type { RefReader } from './refs.ts'

/** A ref to move, with git's compare-and-set precondition. */
export interface RefMove {
  /** A full name (`refs/heads/main`), or `HEAD` to point it at a branch. */
  readonly ref: string
  /** What it must hold now; undefined means "must not exist". HEAD is not compared. */
  readonly expected: Oid | undefined
  /** An object id, or for HEAD `ref: refs/heads/<branch>`. */
  readonly target: string
  /** False for the operation's ref of truth; true for a ref that follows from it, moved once the truth is on the disk. */
  readonly follows: boolean
}

/** A write that is on the disk, and only has to be put in place. */
export interface Decision {
  /** It could not be put in place: it shall not happen. */
  withdraw(): Promise<void>
}

/** Thrown when a ref no longer holds what the mover expected: nothing was moved, work it out again. */
export class RefMoved extends Error {
  override readonly name = 'RefMoved'
}

/**
 * Moves refs by git's lock protocol: takes every lock, compares, has `decide` put the write on the disk (all or nothing),
 * and renames the locks into place. Throws RefMoved, or what `decide` threw, having moved nothing; a decision after which
 * nothing could be moved is withdrawn.
 */
export async function moveRefs(
  fs: Fs,
  gitdir: string,
  refs: RefReader,
  moves: readonly RefMove[],
  decide: () => Promise<Decision>,
): Promise<void> {
  // In the order of names, so that two writers never wait for each other.
  const sorted = [...moves].sort((a, b) => (a.ref < b.ref ? -1 : 1))
  const locks: PreparedLock[] = []
  const held = new Map<RefMove, HeldLock>()
  try {
    for (const move of sorted) {
      makeFolder(fs, dirname(`${gitdir}/${move.ref}`))
      const lock = prepareLock(fs, gitdir, `${move.target}\n`)
      locks.push(lock)
      held.set(move, await lock.acquire(`${gitdir}/${move.ref}.lock`))
    }
    for (const { ref, expected } of sorted) {
      if (ref !== 'HEAD' && refs.current(ref) !== expected) throw new RefMoved(`${ref} moved meanwhile`)
    }
    for (const move of sorted) assertNameFree(fs, gitdir, move)
    const decision = await decide()
    const moved: RefMove[] = []
    try {
      // The ref of truth first: whoever sees a ref that follows from it sees it, too.
      for (const move of [...sorted].sort((a, b) => Number(a.follows) - Number(b.follows))) {
        held.get(move)?.publish(`${gitdir}/${move.ref}`)
        held.delete(move)
        moved.push(move)
      }
    } catch (error) {
      if (moved.length === 0) await decision.withdraw()
      throw error
    }
    refs.apply(sorted)
  } catch (error) {
    for (const lock of held.values()) lock.release()
    for (const lock of locks) lock.discard()
    throw error
  }
}

/**
 * git lets no ref have the name of a folder of refs. Folders that hold none, which git leaves behind, are removed; a ref that
 * would hide others is refused with `slug_taken`, naming one of them.
 */
function assertNameFree(fs: Fs, gitdir: string, { ref, expected }: Pick<RefMove, 'ref' | 'expected'>): void {
  const path = `${gitdir}/${ref}`
  const kind = fs.stat(path)?.kind
  const isFolder = kind === 'folder'
  if (kind !== undefined && !isFolder && expected === undefined && ref !== 'HEAD') {
    throw new Refusal(
      'slug_taken',
      `${ref} cannot be made: it is a symbolic ref in this repository. Choose another slug, or remove it with git symbolic-ref -d.`,
      { conflict: { slug: ref.slice(ref.lastIndexOf('/') + 1) } },
    )
  }
  const below =
    (isFolder ? firstFile(fs, path) : undefined) ??
    (expected === undefined ? packedBelow(fs, gitdir, ref) : undefined)
  if (below !== undefined) {
    const name = `${ref}/${below}`
    throw new Refusal(
      'slug_taken',
      `${ref} cannot be made: git keeps ${name} in this repository, and no ref may have the name of another's folder. ` +
        `Choose another slug, or rename that one with git.`,
      { conflict: { slug: ref.slice(ref.lastIndexOf('/') + 1) } },
    )
  }
  if (isFolder && !removeEmptyFolders(fs, path)) assertNameFree(fs, gitdir, { ref, expected })
}

/** False if somebody put something into them meanwhile. */
function removeEmptyFolders(fs: Fs, folder: string): boolean {
  const names = fs.readDir(folder) ?? []
  return names.every((name) => removeEmptyFolders(fs, `${folder}/${name}`)) && fs.removeFolder(folder)
}

/** The path of some file in the folder, seen from it. */
function firstFile(fs: Fs, folder: string): string | undefined {
  for (const name of fs.readDir(folder) ?? []) {
    if (fs.stat(`${folder}/${name}`)?.kind !== 'folder') return name
    const deeper = firstFile(fs, `${folder}/${name}`)
    if (deeper !== undefined) return `${name}/${deeper}`
  }
  return undefined
}

/** The name of some packed ref below `ref`, seen from it. */
function packedBelow(fs: Fs, gitdir: string, ref: string): string | undefined {
  const packed = fs.readFile(`${gitdir}/packed-refs`)?.toString('utf8') ?? ''
  const at = packed.indexOf(` ${ref}/`)
  return at < 0 ? undefined : /^\S+/.exec(packed.slice(at + ref.length + 2))?.[0]
}

function makeFolder(fs: Fs, folder: string): void {
  if (!fs.stat(folder)) fs.makeDir(folder)
}

import type { Fs } from '../../storage/fs.ts'
import { isBeforeBoot, isDead, parseIdentity } from '../../storage/process-identity.ts'
import { isQuarantine } from '../receive/quarantine.ts'
import { lockFolders } from '../refs/ref-store.ts'

/**
 * What dead processes of this host left in a repository, as paths below it: staged packs, `.keep` files, owner files of locks, and
 * what git was writing. `Repository.sweepLeftovers` removes them.
 */
export function staleFiles(fs: Fs, gitdir: string): string[] {
  const packs = (fs.readDir(`${gitdir}/objects/pack`) ?? []).filter((name) => {
    if (name.startsWith('tmp_')) return isOfDead(name.slice('tmp_'.length))
    const keep = name.endsWith('.keep') ? fs.readFile(`${gitdir}/objects/pack/${name}`) : undefined
    return keep !== undefined && isOfDead(keep.toString('utf8').trimEnd())
  })
  const locks = (fs.readDir(`${gitdir}/locks`) ?? []).filter(isOfDead)
  return [
    ...packs.map((name) => `objects/pack/${name}`),
    ...locks.map((name) => `locks/${name}`),
    ...staleFilesOfGit(fs, gitdir),
  ]
}

function isOfDead(owner: string): boolean {
  const identity = parseIdentity(owner)
  return identity !== undefined && isDead(identity)
}

/**
 * What git programs were writing in a repository when the machine stopped, as paths below it: nobody of before its start is alive to
 * finish it. A `packed-refs.new` that stays keeps git from ever packing refs again; unfinished packs take room.
 */
export function staleFilesOfGit(fs: Fs, gitdir: string): string[] {
  const packs = (fs.readDir(`${gitdir}/objects/pack`) ?? []).filter(isUnfinishedPack)
  return ['packed-refs.new', ...packs.map((name) => `objects/pack/${name}`)].filter((name) => {
    const stat = fs.stat(`${gitdir}/${name}`)
    return stat !== undefined && isBeforeBoot(stat.modified)
  })
}

/** By git's names for it; packs that we stage say whose they are. */
function isUnfinishedPack(name: string): boolean {
  return /^(?:tmp_|\.tmp-)/.test(name) && !parseIdentity(name.replace(/^tmp_/, ''))
}

/** What git derives from a repository's commits and packs to read them faster (gitrepository-layout(5)). */
const DERIVED = [
  'objects/info/commit-graph',
  'objects/info/commit-graphs',
  'objects/pack/multi-pack-index',
] as const

/** Whether a sentence of `git fsck` is about a file that git derived, and can derive again. */
export function isAboutGitCacheFile(problem: string): boolean {
  return /commit-graph|multi-pack-index/.test(problem)
}

/** Removes git's derived files, and answers which there were. git and we read the objects themselves without them. */
export function removeGitCacheFiles(fs: Fs, gitdir: string): string[] {
  const present = DERIVED.filter((name) => fs.stat(`${gitdir}/${name}`))
  for (const name of present) {
    if (fs.stat(`${gitdir}/${name}`)?.kind === 'folder') fs.removeTree(`${gitdir}/${name}`)
    else fs.remove(`${gitdir}/${name}`)
  }
  return present
}

/**
 * Whether a repository holds anything that a server or git makes while it writes and takes away in the end: in use now, or left by who
 * died. Most have nothing, so it lists each folder once and opens no file.
 */
export function mayHaveStaleFiles(fs: Fs, gitdir: string): boolean {
  const top = fs.readDir(gitdir) ?? []
  if (top.some((name) => isLock(name) || name === 'packed-refs.new')) return true
  if (top.includes('locks') && fs.readDir(`${gitdir}/locks`)?.length) return true
  const objects = fs.readDir(`${gitdir}/objects`) ?? []
  if (objects.some(isQuarantine)) return true
  if (fs.readDir(`${gitdir}/objects/pack`)?.some((name) => /^\.?tmp[_-]|\.keep$/.test(name))) return true
  if (objects.includes('info') && fs.readDir(`${gitdir}/objects/info`)?.some(isLock)) return true
  const refs = fs.readDir(`${gitdir}/refs`) ?? []
  return lockFolders(refs).some((folder) => fs.readDir(`${gitdir}/${folder}`)?.some(isLock))
}

function isLock(name: string): boolean {
  return name.endsWith('.lock')
}

import { type Fs, isBeforeBoot, isDead, parseIdentity } from '../../storage/files.ts'
import { isQuarantine } from '../receive/quarantine.ts'
import { lockFolders } from '../refs/ref-store.ts'

/**
 * Files that dead processes of this host left in a repository, as paths relative to it: staged packs, `.keep` files, owner files of locks,
 * and unfinished files of git. `Repository.sweepLeftovers` removes them.
 */
export function staleFiles(fs: Fs, gitdir: string): string[] {
  const packs = (fs.readDir(`${gitdir}/objects/pack`) ?? []).filter((name) => {
    if (name.startsWith('tmp_')) return isOfDead(gitdir, name.slice('tmp_'.length))
    const keep = name.endsWith('.keep') ? fs.readFile(`${gitdir}/objects/pack/${name}`) : undefined
    return keep !== undefined && isOfDead(gitdir, keep.toString('utf8').trimEnd())
  })
  const locks = (fs.readDir(`${gitdir}/locks`) ?? []).filter((name) => isOfDead(gitdir, name))
  return [
    ...packs.map((name) => `objects/pack/${name}`),
    ...locks.map((name) => `locks/${name}`),
    ...staleFilesOfGit(fs, gitdir),
  ]
}

function isOfDead(gitdir: string, owner: string): boolean {
  const identity = parseIdentity(owner)
  return identity !== undefined && isDead(identity, gitdir)
}

/**
 * Unfinished files of git programs from before the machine started, as paths relative to the repository; no process is alive to finish them.
 * A `packed-refs.new` that stays keeps git from packing refs; unfinished packs take space.
 */
export function staleFilesOfGit(fs: Fs, gitdir: string): string[] {
  const packs = (fs.readDir(`${gitdir}/objects/pack`) ?? []).filter(isUnfinishedPack)
  return ['packed-refs.new', ...packs.map((name) => `objects/pack/${name}`)].filter((name) => {
    const stat = fs.stat(`${gitdir}/${name}`)
    return stat !== undefined && isBeforeBoot(stat.modified)
  })
}

/** Recognised by git's names; our staged packs carry the name of their process. */
function isUnfinishedPack(name: string): boolean {
  return /^(?:tmp_|\.tmp-)/.test(name) && !parseIdentity(name.replace(/^tmp_/, ''))
}

/** Files that git derives from commits and packs for faster reads (gitrepository-layout(5)). */
const DERIVED = [
  'objects/info/commit-graph',
  'objects/info/commit-graphs',
  'objects/pack/multi-pack-index',
] as const

/** Whether a message of `git fsck` concerns a file that git can derive again. */
export function isAboutGitCacheFile(problem: string): boolean {
  return /commit-graph|multi-pack-index/.test(problem)
}

/** Removes git's derived files; answers which existed. Objects remain readable without them. */
export function removeGitCacheFiles(fs: Fs, gitdir: string): string[] {
  const present = DERIVED.filter((name) => fs.stat(`${gitdir}/${name}`))
  for (const name of present) {
    if (fs.stat(`${gitdir}/${name}`)?.kind === 'folder') fs.removeTree(`${gitdir}/${name}`)
    else fs.remove(`${gitdir}/${name}`)
  }
  return present
}

/**
 * Whether a repository has files that servers or git create during writes and remove afterwards, in use or left by a dead process. Most
 * repositories have none, so this lists each folder once and opens no file.
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

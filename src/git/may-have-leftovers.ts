import type { Fs } from './fs.ts'
import { isQuarantine } from './quarantine.ts'
import { lockFolders } from './refs.ts'

/**
 * Whether a repository holds anything that a server or git makes while it writes and takes away in the end: in use now, or left by who
 * died. Most have nothing, so it lists each folder once and opens no file.
 */
export function mayHaveLeftovers(fs: Fs, gitdir: string): boolean {
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

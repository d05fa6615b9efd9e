import type { Fs } from './fs.ts'
import { gitLeftovers } from './git-leftovers.ts'
import { isDead, parseIdentity } from './process-identity.ts'

/**
 * What dead processes of this host left in a repository, as paths below it: staged packs, `.keep` files, owner files of locks, and
 * what git was writing. `Repository.sweepLeftovers` removes them.
 */
export function leftovers(fs: Fs, gitdir: string): string[] {
  const packs = (fs.readDir(`${gitdir}/objects/pack`) ?? []).filter((name) => {
    if (name.startsWith('tmp_')) return isOfDead(name.slice('tmp_'.length))
    const keep = name.endsWith('.keep') ? fs.readFile(`${gitdir}/objects/pack/${name}`) : undefined
    return keep !== undefined && isOfDead(keep.toString('utf8').trimEnd())
  })
  const locks = (fs.readDir(`${gitdir}/locks`) ?? []).filter(isOfDead)
  return [
    ...packs.map((name) => `objects/pack/${name}`),
    ...locks.map((name) => `locks/${name}`),
    ...gitLeftovers(fs, gitdir),
  ]
}

function isOfDead(owner: string): boolean {
  const identity = parseIdentity(owner)
  return identity !== undefined && isDead(identity)
}

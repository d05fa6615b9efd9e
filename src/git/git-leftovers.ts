import type { Fs } from './fs.ts'
import { isBeforeBoot, parseIdentity } from './process-identity.ts'

/**
 * What git programs were writing in a repository when the machine stopped, as paths below it: nobody of before its start is alive to
 * finish it. A `packed-refs.new` that stays keeps git from ever packing refs again; unfinished packs take room.
 */
export function gitLeftovers(fs: Fs, gitdir: string): string[] {
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

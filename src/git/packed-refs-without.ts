import { dirname } from 'node:path/posix'
import type { Fs } from './fs.ts'
import { ownFile } from './lock.ts'

/** A new `packed-refs` that is on the disk under a name of ours. Whoever uses it holds `packed-refs.lock`. */
export interface StagedPackedRefs {
  /** Puts it in the place of the old one; not yet on the disk: sync the folder. */
  publish(): void
  /** Removes it, if it was not published. */
  discard(): void
}

/**
 * Prepares `packed-refs` without the refs of these names; undefined if it holds none of them. All other lines stay byte for
 * byte; the peeled value of a tag goes with its line (git-pack-refs(1)). It is synced, other than a loose ref: torn by a power
 * cut, it would take refs along that no journal tells of.
 */
export async function packedRefsWithout(
  fs: Fs,
  gitdir: string,
  names: readonly string[],
): Promise<StagedPackedRefs | undefined> {
  const path = `${gitdir}/packed-refs`
  const before = fs.readFile(path)
  const after = before && withoutLinesOf(before, names)
  if (!after) return undefined
  const staged = ownFile(gitdir)
  fs.makeDir(dirname(staged))
  await fs.createSynced(staged, after)
  return {
    publish: () => fs.rename(staged, path),
    discard: () => fs.remove(staged),
  }
}

/** Undefined if no line is of these names. Every byte is one character on the way: names need not be UTF-8. */
function withoutLinesOf(packed: Buffer, names: readonly string[]): Buffer | undefined {
  const gone = new Set(names.map((name) => Buffer.from(name).toString('latin1')))
  const kept: string[] = []
  let isGone = false
  let isChanged = false
  for (const line of packed.toString('latin1').split('\n')) {
    if (!line.startsWith('^')) isGone = gone.has(line.slice(line.indexOf(' ') + 1))
    if (isGone) isChanged = true
    else kept.push(line)
  }
  return isChanged ? Buffer.from(kept.join('\n'), 'latin1') : undefined
}

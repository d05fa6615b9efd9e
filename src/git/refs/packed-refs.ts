import { dirname } from 'node:path/posix'
import type { Fs } from '../../storage/fs.ts'
import { ownFile } from '../../storage/lock-file.ts'
import type { AllRefs } from './list-refs.ts'
import { looseRefs } from './list-refs.ts'
import { assertRef, refPath } from './ref-store.ts'

/**
 * Removes refs from where git keeps them: their packed lines first and on the disk, so that neither anyone who looks now nor a
 * power cut ever uncovers an older value behind a loose file. Whoever calls it sees to it that nobody else writes them or
 * `packed-refs` meanwhile.
 */
export async function deleteRefFiles(fs: Fs, gitdir: string, refs: readonly string[]): Promise<void> {
  const paths = refs.map((ref) => refPath(gitdir, ref))
  const packed = await rewritePackedRefs(fs, gitdir, refs)
  if (packed) {
    packed.publish()
    await fs.syncDir(gitdir)
  }
  for (const path of paths) if (fs.stat(path)?.kind === 'file') fs.remove(path)
}

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
export async function rewritePackedRefs(
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

/**
 * Makes these the only refs of a repository that nobody else writes to: all of them packed (git-pack-refs(1)), so that one rename
 * moves them together; on the disk when it resolves.
 */
export async function replaceRefs(fs: Fs, gitdir: string, { refs, head }: AllRefs): Promise<void> {
  for (const [name, oid] of refs) assertRef(name, oid)
  assertRef('HEAD', head)
  fs.makeDir(`${gitdir}/refs`)
  await replace(fs, `${gitdir}/packed-refs`, packedRefs(refs))
  await replace(fs, `${gitdir}/HEAD`, `${head}\n`)
  await fs.syncDir(gitdir)
  // Somebody's own git may have left some, and git believes these first.
  for (const name of looseRefs(fs, gitdir)) fs.remove(`${gitdir}/${name}`)
}

/** Nothing is said of what annotated tags peel to, so git looks for itself. */
function packedRefs(refs: AllRefs['refs']): string {
  const names = [...refs.keys()].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  return `# pack-refs with: sorted \n${names.map((name) => `${refs.get(name)} ${name}\n`).join('')}`
}

async function replace(fs: Fs, path: string, text: string): Promise<void> {
  const temporary = `${path}.new`
  fs.remove(temporary)
  await fs.createSynced(temporary, Buffer.from(text))
  fs.rename(temporary, path)
}

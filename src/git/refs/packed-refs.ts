import { dirname } from 'node:path/posix'
import { type Fs, ownFile } from '../../storage/files.ts'
import type { AllRefs } from './list-refs.ts'
import { looseRefs } from './list-refs.ts'
import { assertRef, refPath } from './ref-store.ts'

/**
 * Deletes refs: first their packed lines, synced, so that neither a reader nor a power cut ever uncovers an older packed value behind a
 * removed loose file. The caller ensures that no other process writes these refs or `packed-refs` meanwhile.
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

/** A new `packed-refs`, synced under a temporary name. The user holds `packed-refs.lock`. */
export interface StagedPackedRefs {
  /** Replaces `packed-refs`; not durable until the folder is synced. */
  publish(): void
  /** Removes the file if it was not published. */
  discard(): void
}

/**
 * Prepares a `packed-refs` without these refs; undefined if it has none of them. Other lines are unchanged, byte by byte; a tag's peeled
 * value goes with its line (git-pack-refs(1)). The file is synced, unlike a loose ref: if a power cut damaged it, refs would be lost that no
 * journal has.
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

/** Undefined if no line has one of the names. Latin-1 keeps every byte, because names need not be UTF-8. */
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
 * Replaces all refs of a repository that no other process writes to. All are packed (git-pack-refs(1)), so that one rename sets them
 * together; durable when this resolves.
 */
export async function replaceRefs(fs: Fs, gitdir: string, { refs, head }: AllRefs): Promise<void> {
  for (const [name, oid] of refs) assertRef(name, oid)
  assertRef('HEAD', head)
  fs.makeDir(`${gitdir}/refs`)
  await replace(fs, `${gitdir}/packed-refs`, packedRefs(refs))
  await replace(fs, `${gitdir}/HEAD`, `${head}\n`)
  await fs.syncDir(gitdir)
  // Loose refs that another git left would take precedence.
  for (const name of looseRefs(fs, gitdir)) fs.remove(`${gitdir}/${name}`)
}

/** Does not declare peeled tags, so git peels them itself. */
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

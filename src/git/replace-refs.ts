import type { AllRefs } from './all-refs.ts'
import { looseRefs } from './all-refs.ts'
import type { Fs } from './fs.ts'
import { assertRef } from './ref-name.ts'

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

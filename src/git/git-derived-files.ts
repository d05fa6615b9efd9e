import type { Fs } from './fs.ts'

/** What git derives from a repository's commits and packs to read them faster (gitrepository-layout(5)). */
const DERIVED = [
  'objects/info/commit-graph',
  'objects/info/commit-graphs',
  'objects/pack/multi-pack-index',
] as const

/** Whether a sentence of `git fsck` is about a file that git derived, and can derive again. */
export function isAboutDerivedFile(problem: string): boolean {
  return /commit-graph|multi-pack-index/.test(problem)
}

/** Removes git's derived files, and answers which there were. git and we read the objects themselves without them. */
export function removeDerivedFiles(fs: Fs, gitdir: string): string[] {
  const present = DERIVED.filter((name) => fs.stat(`${gitdir}/${name}`))
  for (const name of present) {
    if (fs.stat(`${gitdir}/${name}`)?.kind === 'folder') fs.removeTree(`${gitdir}/${name}`)
    else fs.remove(`${gitdir}/${name}`)
  }
  return present
}

import { Refusal } from '../../errors.ts'
import type { Fs } from '../../storage/fs.ts'
import type { Oid } from '../objects/object.ts'
import { refPath } from './ref-name.ts'

/**
 * git lets no ref have the name of a folder of refs. Folders that hold none, which git leaves behind, are removed; a ref that
 * would hide others is refused with `slug_taken`, naming one of them.
 */
export function assertNoRefNameConflict(
  fs: Fs,
  gitdir: string,
  { ref, expected }: { readonly ref: string; readonly expected: Oid | undefined },
  packed = new PackedNames(fs, gitdir),
): void {
  const path = refPath(gitdir, ref)
  const kind = fs.stat(path)?.kind
  const isFolder = kind === 'folder'
  if (kind !== undefined && !isFolder && expected === undefined && ref !== 'HEAD') {
    throw new Refusal(
      'slug_taken',
      `${ref} cannot be made: it is a symbolic ref in this repository. Choose another slug, or remove it with git symbolic-ref -d.`,
      { conflict: { slug: ref.slice(ref.lastIndexOf('/') + 1) } },
    )
  }
  const below =
    (isFolder ? firstFile(fs, path) : undefined) ?? (expected === undefined ? packed.below(ref) : undefined)
  if (below !== undefined) {
    const name = `${ref}/${below}`
    throw new Refusal(
      'slug_taken',
      `${ref} cannot be made: git keeps ${name} in this repository, and no ref may have the name of another's folder. ` +
        `Choose another slug, or rename that one with git.`,
      { conflict: { slug: ref.slice(ref.lastIndexOf('/') + 1) } },
    )
  }
  if (isFolder && !removeEmptyFolders(fs, path))
    assertNoRefNameConflict(fs, gitdir, { ref, expected }, packed)
}

/** False if somebody put something into them meanwhile. */
function removeEmptyFolders(fs: Fs, folder: string): boolean {
  const names = fs.readDir(folder) ?? []
  return names.every((name) => removeEmptyFolders(fs, `${folder}/${name}`)) && fs.removeFolder(folder)
}

/** The path of some file in the folder, seen from it. */
function firstFile(fs: Fs, folder: string): string | undefined {
  for (const name of fs.readDir(folder) ?? []) {
    if (fs.stat(`${folder}/${name}`)?.kind !== 'folder') return name
    const deeper = firstFile(fs, `${folder}/${name}`)
    if (deeper !== undefined) return `${name}/${deeper}`
  }
  return undefined
}

/** The names of the packed refs, read once and only if somebody asks. */
export class PackedNames {
  readonly #fs: Fs
  readonly #gitdir: string
  /** By folder: some ref below it. */
  #folders: ReadonlyMap<string, string> | undefined

  constructor(fs: Fs, gitdir: string) {
    this.#fs = fs
    this.#gitdir = gitdir
  }

  /** The name of some packed ref below `ref`, seen from it. */
  below(ref: string): string | undefined {
    this.#folders ??= this.#read()
    return this.#folders.get(ref)?.slice(ref.length + 1)
  }

  #read(): ReadonlyMap<string, string> {
    const folders = new Map<string, string>()
    for (const line of this.#fs.readFile(`${this.#gitdir}/packed-refs`)?.toString('utf8').split('\n') ?? []) {
      const name = line.slice(line.indexOf(' ') + 1)
      // Once a folder is known, so are those above it.
      for (
        let at = name.lastIndexOf('/');
        at > 0 && !folders.has(name.slice(0, at));
        at = name.lastIndexOf('/', at - 1)
      )
        folders.set(name.slice(0, at), name)
    }
    return folders
  }
}

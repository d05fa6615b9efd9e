import { resolve } from 'node:path'
import { makeFolderIn } from '../trash/gone.ts'
import { type Fs, identityName, isDead, parseIdentity, thisProcess } from '../../storage/files.ts'
import type { GitVariables } from '../program/git-environment.ts'

/** Prefix of quarantine folders in `objects`; git ignores folders with such names. */
const PREFIX = 'incoming-'

const self = identityName(thisProcess())
let opened = 0

/** A folder of a repository for new objects, which only the owner of the quarantine sees. */
export interface Quarantine {
  /** Has its objects in `objects`, as a repository does. */
  readonly path: string
  readonly packFolder: string
  /** Variables that make a git program work in it (git(1), GIT_OBJECT_DIRECTORY). */
  readonly variables: GitVariables
  /** Removes it with everything in it. */
  discard(): void
}

/** Makes a quarantine in the repository. The next start removes those of dead processes. */
export function openQuarantine(fs: Fs, gitdir: string): Quarantine {
  // This folder marks that a server wrote here; the next start looks here for files of dead servers.
  makeFolderIn(fs, gitdir, 'locks')
  const path = `${gitdir}/objects/${PREFIX}${self}.${++opened}`
  const packFolder = `${path}/objects/pack`
  fs.makeDir(packFolder)
  return {
    path,
    packFolder,
    variables: {
      GIT_DIR: resolve(gitdir),
      GIT_OBJECT_DIRECTORY: resolve(path, 'objects'),
      // Quoted, because the list then accepts a path with a colon (git(1)).
      GIT_ALTERNATE_OBJECT_DIRECTORIES: JSON.stringify(resolve(gitdir, 'objects')),
      // Keeps git from moving a ref of the repository (git-receive-pack(1)).
      GIT_QUARANTINE_PATH: resolve(path, 'objects'),
    },
    discard: () => fs.removeTree(path),
  }
}

/** Whether a name in `objects` is that of a quarantine. */
export function isQuarantine(name: string): boolean {
  return name.startsWith(PREFIX)
}

/** Removes the quarantines of dead processes of this host. */
export function sweepQuarantines(fs: Fs, gitdir: string): void {
  for (const name of fs.readDir(`${gitdir}/objects`) ?? []) {
    const owner = isQuarantine(name) ? parseIdentity(name.slice(PREFIX.length)) : undefined
    if (owner && isDead(owner, gitdir)) fs.removeTree(`${gitdir}/objects/${name}`)
  }
}

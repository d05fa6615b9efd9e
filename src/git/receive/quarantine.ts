import { resolve } from 'node:path'
import { makeFolderIn } from '../trash/gone.ts'
import { type Fs, identityName, isDead, parseIdentity, thisProcess } from '../../storage/files.ts'
import type { GitVariables } from '../program/git-environment.ts'

/** Folders of quarantines in `objects`, where git looks at none of such a name. */
const PREFIX = 'incoming-'

const self = identityName(thisProcess())
let opened = 0

/** A folder of a repository that git writes new objects to, and reads them from, while nobody else sees them. */
export interface Quarantine {
  /** Has the objects in `objects`, as a repository does. */
  readonly path: string
  readonly packFolder: string
  /** What a git program is told to work in it (git(1), GIT_OBJECT_DIRECTORY). */
  readonly variables: GitVariables
  /** Removes it with everything in it. */
  discard(): void
}

/** Makes a quarantine in the repository. A dead process's is swept at the next start. */
export function openQuarantine(fs: Fs, gitdir: string): Quarantine {
  // The sign that a server wrote here: what a dead one leaves is looked for at the next start.
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
      // In quotes, which let the list have a path with a colon (git(1)).
      GIT_ALTERNATE_OBJECT_DIRECTORIES: JSON.stringify(resolve(gitdir, 'objects')),
      // Keeps git from moving a ref of the repository (git-receive-pack(1)).
      GIT_QUARANTINE_PATH: resolve(path, 'objects'),
    },
    discard: () => fs.removeTree(path),
  }
}

/** Whether a name in `objects` is that of a quarantine, in use or left. */
export function isQuarantine(name: string): boolean {
  return name.startsWith(PREFIX)
}

/** Removes the quarantines that dead processes of this host left. */
export function sweepQuarantines(fs: Fs, gitdir: string): void {
  for (const name of fs.readDir(`${gitdir}/objects`) ?? []) {
    const owner = isQuarantine(name) ? parseIdentity(name.slice(PREFIX.length)) : undefined
    if (owner && isDead(owner)) fs.removeTree(`${gitdir}/objects/${name}`)
  }
}

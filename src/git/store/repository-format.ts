import { Refusal } from '../../errors.ts'
import { BARE_CONFIG } from './create-repository.ts'
import { isomorphicFs } from './isomorphic-fs.ts'
import type { Fs } from '../../storage/files.ts'

/**
 * Refuses repositories that this registry cannot serve, by name: SHA-256, reftable, shallow history, alternates (a backup of the folder would
 * miss objects), a symbolic link in place of a repository, and anything that is not a bare repository. See repository-format in git's
 * technical documentation.
 */
export async function assertServable(fs: Fs, gitdir: string): Promise<void> {
  const kind = fs.stat(gitdir)?.kind
  if (kind === 'other')
    throw unservable(gitdir, 'is a symbolic link or no folder. Put the repository itself there.')
  if (kind !== 'folder') throw unservable(gitdir, 'is not a folder.')
  if (!fs.stat(`${gitdir}/HEAD`) || !fs.stat(`${gitdir}/objects`)) {
    throw unservable(gitdir, 'is not a bare git repository: it has no HEAD or no objects folder.')
  }
  if (fs.stat(`${gitdir}/objects/info/alternates`)) {
    throw unservable(
      gitdir,
      'borrows objects through objects/info/alternates. Run `git repack -ad` and remove that file.',
    )
  }
  if (fs.stat(`${gitdir}/shallow`)) {
    throw unservable(
      gitdir,
      'is a shallow clone, so versions cannot be counted. Run `git fetch --unshallow`.',
    )
  }
  const config = fs.readFile(`${gitdir}/config`)?.toString('utf8') ?? ''
  if (config === BARE_CONFIG) return
  // Few repositories have another config than ours, so the reader is loaded only for them.
  const { getConfig } = await import('isomorphic-git')
  const read = (path: string): Promise<unknown> => getConfig({ fs: isomorphicFs(fs), gitdir, path })
  const format: unknown = await read('extensions.objectformat')
  if (format !== undefined && format !== 'sha1') {
    throw unservable(gitdir, `uses the object format ${String(format)}; only sha1 is served.`)
  }
  const storage: unknown = await read('extensions.refstorage')
  if (storage !== undefined && storage !== 'files') {
    throw unservable(gitdir, `keeps its refs as ${String(storage)}; only files are served.`)
  }
}

function unservable(gitdir: string, why: string): Refusal {
  return new Refusal('damaged_repository', `${gitdir} ${why}`)
}

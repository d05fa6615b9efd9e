import { dirname } from 'node:path/posix'
import type { Fs } from '../../storage/fs.ts'
import { consolidatePacks } from '../packs/consolidate-packs.ts'
import type { EncodedPack } from '../packs/pack-writer.ts'
import { refPath } from '../refs/ref-name.ts'
import { namesAbovePacks } from '../transactions/pack-staging.ts'
import { syncFolderMoves } from './finish-folder-moves.ts'
import type { JournalRecord, JournalWrite } from './journal-record.ts'

/** So many repositories are rolled up at the same time: one while the disk is at work on the other. */
const AT_ONCE = 2

/**
 * Syncs the packs, refs and folders that a journal tells of, as far as they are still there. The small packs of a
 * repository become one on the way, which is one sync in place of many.
 */
export async function syncPublished(fs: Fs, store: string, writes: readonly JournalWrite[]): Promise<void> {
  const touched = new Map<string, Touched>()
  for (const { repository, moves, pack, created } of writes) {
    const gitdir = `${store}/${repository}`
    const it = touched.get(gitdir) ?? { packs: new Map(), refs: new Set() }
    touched.set(gitdir, it)
    if (pack) it.packs.set(pack.name, pack)
    // The first refs of a new repository are packed.
    if (!created) for (const { ref } of moves) it.refs.add(ref)
  }
  const paths: string[] = []
  const repositories = [...touched]
  while (repositories.length > 0) {
    const some = repositories.splice(0, AT_ONCE).map(([gitdir, it]) => rollUp(fs, gitdir, it))
    for (const found of await Promise.all(some)) for (const path of found) paths.push(path)
  }
  // Folders that several share once, and behind what lies in them.
  if (paths.length > 0) await fs.syncAll([...new Set(paths.reverse())].reverse())
}

/** What was put in place in one repository. */
interface Touched {
  readonly packs: Map<string, EncodedPack>
  readonly refs: Set<string>
}

/** Makes one of the small packs, and answers what has to be synced of the repository: what lies in a folder before that. */
async function rollUp(fs: Fs, gitdir: string, { packs, refs }: Touched): Promise<string[]> {
  const folder = `${gitdir}/objects/pack`
  const fresh = [...packs.values()]
  // Where it cannot be done, nothing is lost: the packs stay as they are until the next time.
  const gone = fresh.length > 0 ? await consolidatePacks(fs, gitdir, fresh).catch(() => NONE) : NONE
  const left = [...packs.keys()].filter((name) => !gone.has(name))
  const files = left.flatMap((name) => [`${folder}/${name}.pack`, `${folder}/${name}.idx`])
  // Also for those that are gone: never synced, they would come back torn.
  const folders = new Set(fresh.length > 0 ? [folder] : [])
  for (const ref of refs) {
    const path = refPath(gitdir, ref)
    files.push(path)
    // The folder of the ref may be new itself.
    for (let folder = dirname(path); folder.length >= gitdir.length; folder = dirname(folder))
      folders.add(folder)
  }
  // Whoever made the repository may not have come to that yet: then it would be made again, as it was in the beginning.
  return [...files, ...folders, ...pathsOfRepository(gitdir)]
}

/** What a repository is known by, and its own name last. */
function pathsOfRepository(gitdir: string): string[] {
  return [...['HEAD', 'config', 'packed-refs'].map((name) => `${gitdir}/${name}`), ...namesAbovePacks(gitdir)]
}

const NONE: ReadonlySet<string> = new Set()

/** Syncs everything that the records of a journal tell of, as far as it is still there; see syncPublished. */
export async function checkpointJournal(
  fs: Fs,
  store: string,
  records: readonly JournalRecord[],
): Promise<void> {
  await syncFolderMoves(fs, store, records)
  const writes = records.flatMap((record) => record.writes)
  await syncPublished(fs, store, writes)
}

import { dirname } from 'node:path/posix'
import type { Fs } from '../../../storage/files.ts'
import { buildFolder, layOut } from '../../../git/store.ts'
import { fencing, moveFolder, purgeMark, STAMP_FILE, type FolderMove } from '../../../git/trash.ts'
import { type Copy, placeOf, foldersOf } from './copy.ts'
import { placePack } from './place-pack.ts'
import { type LogEntry, type LoggedPurge, type LoggedWrite, NotInLog } from '../shared-log.ts'
import { setRefs } from './set-refs.ts'

/**
 * Applies an entry of the log to the folder: packs, then new repositories and refs, then moves to and from the trash. Applying it again,
 * followed by all later entries, changes nothing. Throws NotInLog if the log no longer has everything that the entry needs.
 */
export async function placeEntry(copy: Copy, entry: LogEntry): Promise<void> {
  const there: (LoggedWrite & { readonly gitdir: string })[] = []
  for (const write of entry.writes) {
    const gitdir = placeOf(copy, write.repository)
    if (write.head !== undefined) {
      if (gitdir === undefined) await create(copy, write, write.head)
      continue
    }
    if (gitdir === undefined) throw new NotInLog(`${write.repository} is not in the folder`)
    for (const pack of write.packs) await placePack(copy.fs, copy.log, { ...write, gitdir }, pack)
    there.push({ ...write, gitdir })
  }
  await setRefs(copy, there)
  if (entry.moved) await move(copy, entry.moved)
  if (entry.purged) purge(copy, entry.purged)
}

/** Creates a repository in its first state: builds it in a temporary folder and renames that. */
async function create(
  { fs, dir, log }: Copy,
  { repository, moves, packs }: LoggedWrite,
  head: string,
): Promise<void> {
  const gitdir = `${dir}/${repository}`
  fs.makeDir(dirname(gitdir))
  const aside = buildFolder(fs, dirname(gitdir))
  try {
    const refs = moves.flatMap(({ ref, target }) => (target === undefined ? [] : [[ref, target] as const]))
    layOut(fs, aside, refs, head)
    for (const pack of packs) await placePack(fs, log, { gitdir: aside, repository }, pack)
    // A push to an earlier repository of this name may have left files here.
    fs.removeTree(gitdir)
    fs.rename(aside, gitdir)
  } catch (error) {
    fs.removeTree(aside)
    throw error
  }
}

/** Moves a repository to the trash or back, while it is fenced from writers of this server. */
async function move({ fs, dir, packs }: Copy, moved: FolderMove): Promise<void> {
  const [from, to] = [`${dir}/${moved.from}`, `${dir}/${moved.to}`]
  if (!fs.stat(from) || fs.stat(to)) return
  await fencing(fs, [from], undefined, async () => {
    if (fs.stat(to)) return
    fs.remove(`${from}/${STAMP_FILE}`)
    fs.create(`${from}/${STAMP_FILE}`, Buffer.from(moved.stamp))
    await moveFolder(fs, dir, moved)
    packs.drop(from)
  })
}

function purge(copy: Copy, { repository, isRemembered }: LoggedPurge): void {
  const { fs, packs } = copy
  const { trashed } = foldersOf(copy, repository)
  if (isRemembered) note(fs, purgeMark(trashed))
  packs.drop(trashed)
  fs.removeTree(trashed)
}

/** Creates an empty file unless it exists. */
function note(fs: Fs, path: string): void {
  if (fs.stat(path)) return
  fs.makeDir(dirname(path))
  fs.create(path, Buffer.alloc(0))
}

import { COMMAND } from '../../command-name.ts'
import { CannotStart, Refusal } from '../../errors.ts'
import { createDurableFolder } from '../../storage/durable-folder.ts'
import type { Documents } from '../../storage/documents/documents.ts'
import { SharedDocuments } from '../../storage/documents/shared-documents.ts'
import type { Fs } from '../../storage/fs.ts'
import { type HeldLock, lockFile } from '../../storage/lock-file.ts'
import { StoreGuard } from '../../storage/store-guard.ts'
import { JOURNAL_FOLDER } from '../journal/journal-folder.ts'
import type { PackCache } from '../packs/pack-cache.ts'
import { makeStore } from '../store-format.ts'
import type { Arbiter } from '../transactions/arbiter.ts'
import { LogFollower } from './log-follower.ts'
import { FollowingArbiter } from './following-arbiter.ts'
import { OwnMoves } from './own-moves.ts'
import { COPY_FOLDER } from './folder/place-entry.ts'
import { databaseOf, nameDatabase, readPosition } from './folder/position-file.ts'
import { emptyFolder } from './folder/repair.ts'
import type { OpenLog, SharedLog } from './shared-log.ts'

/** A folder that follows a log. */
interface Following {
  readonly arbiter: Arbiter
  readonly guard: StoreGuard
  readonly documents: Documents
}

/**
 * Opens a folder as a copy of what a log holds, and resolves once it can be served: it may be filled still (see Arbiter.filling). Throws a
 * CannotStart where another process uses the folder, or where it holds something else.
 */
export async function openFollowing(
  fs: Fs,
  dir: string,
  openLog: OpenLog,
  packs: PackCache,
): Promise<Following> {
  if (fs.stat(`${dir}/format`) && !fs.stat(`${dir}/${COPY_FOLDER}`)) throw foreign(fs, dir)
  // First of all, and on the disk before `format` is anywhere: by that a folder is known that a crash left half made.
  await createDurableFolder(fs, `${dir}/${COPY_FOLDER}`)
  await makeStore(fs, dir)
  const lock = await takeFolder(fs, dir)
  let opened: SharedLog | undefined
  try {
    const { stream, position } = readPosition(fs, dir)
    const log = (opened = await openLog(stream))
    await checkDatabase(fs, dir, log)
    const documents: SharedDocuments = new SharedDocuments({
      fs,
      dir,
      feed: log.documents,
      fresh: () => follower.fresh(),
    })
    const untilPlaced = (): Promise<void> => follower.untilPlaced()
    const copy = { fs, dir, log, packs, own: new OwnMoves(), documents, untilPlaced }
    if (!position) emptyFolder(copy)
    const follower = new LogFollower(copy, position)
    const arbiter = new FollowingArbiter(copy, follower, () => lock.release())
    await follower.begin()
    return { arbiter, guard: new StoreGuard(fs, `${dir}/format`), documents }
  } catch (error) {
    await opened?.close().catch(() => undefined)
    lock.release()
    throw error
  }
}

/** A folder is one process's: what it decided is known to it alone until it is in the folder. */
async function takeFolder(fs: Fs, dir: string): Promise<HeldLock> {
  const folder = `${dir}/${COPY_FOLDER}`
  try {
    return await lockFile(fs, folder, '').acquire(`${folder}/server.lock`)
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'locked') throw error
    throw new CannotStart(
      `Another server uses the folder ${dir} (${folder}/server.lock). Give each server a CACHE_DIR of its own; if that one has died ` +
        `on another host, remove the file.`,
    )
  }
}

async function checkDatabase(fs: Fs, dir: string, log: SharedLog): Promise<void> {
  const database = databaseOf(fs, dir)
  if (database === undefined) return nameDatabase(fs, dir, log.id)
  if (database === log.id) return
  await log.close()
  throw new CannotStart(
    `The folder ${dir} is a copy of the database ${database}, and STORE is the database ${log.id}. Set CACHE_DIR to another folder, or empty this one.`,
  )
}

function foreign(fs: Fs, dir: string): CannotStart {
  const isInUse = (fs.readDir(`${dir}/${JOURNAL_FOLDER}`) ?? []).length > 0
  return new CannotStart(
    `The folder ${dir} holds a store of files${isInUse ? ', which a server may be using' : ''}, and no copy of a database. Set CACHE_DIR to an empty ` +
      `folder; "${COMMAND} backup" and "${COMMAND} restore" take the store over.`,
  )
}

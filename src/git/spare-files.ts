import type { Fs, SpareFile } from '../storage/fs.ts'
import { SpareFolder } from './spare-folder.ts'

/** So many are made the first time, and twice as many each time until … */
const FEWEST = 12
/** … as many as are made at once: what 64 writes need that come together. */
const MOST = 192

/** How long the spare name of a file that is in use stays, in milliseconds. */
const NAMED_FOR = 1000

/** A file system whose small new files are made ahead. */
export interface SpareFs extends Fs {
  /** Removes what lies ready. */
  dropSpares(): Promise<void>
}

/**
 * `fs` with a `create` that takes an empty file which lies ready in the store, writes it and gives it its name. A new inode takes
 * a file system 10 to 800 µs, the more the more files were deleted lately; this way another thread waits for it, many at a
 * time, and a write costs a link. The spare name goes a second later, together with others: a file that was replaced by then
 * is freed there and not in the way of who replaced it.
 */
export function withSpareFiles(fs: Fs, store: string): SpareFs {
  const folder = new SpareFolder(fs, store)
  const ready: string[] = []
  const used = new Set<string>()
  let batch = 0
  let filling: Promise<void> | undefined
  let tidying: NodeJS.Timeout | undefined
  let isDropped = false

  const fill = async (): Promise<void> => {
    batch = Math.min(Math.max(FEWEST, batch * 2), MOST)
    const paths = folder.newPaths(batch)
    let each: number
    try {
      each = await fs.createEmpty(paths)
    } catch (error) {
      // Some of them may have been made.
      for (const path of paths) used.add(path)
      throw error
    }
    ready.push(...paths)
    await folder.made(batch, each)
  }
  const refill = (): void => {
    if (filling || isDropped || ready.length > batch / 2) return
    filling = new Promise<void>((resolve) => setImmediate(resolve))
      .then(fill)
      // Without a spare one, files are made when they are needed, and that one says what is wrong.
      .catch(() => undefined)
      .finally(() => {
        filling = undefined
      })
  }
  const tidy = async (): Promise<void> => {
    clearTimeout(tidying)
    tidying = undefined
    const names = [...used]
    await fs.removeAll(names)
    for (const name of names) used.delete(name)
    folder.tidy({ isEnding: isDropped })
  }

  const takeSpare = (bytes: Uint8Array): SpareFile | undefined => {
    const name = ready.pop()
    refill()
    if (name === undefined) return undefined
    used.add(name)
    // What cannot be removed is tried again with the next ones.
    tidying ??= setTimeout(() => void tidy().catch(() => undefined), NAMED_FOR).unref()
    if (!succeeds(() => fs.append(name, bytes))) return undefined
    return { linkTo: (path) => succeeds(() => fs.link(name, path)) }
  }

  return {
    ...fs,
    takeSpare,
    create: (path, bytes) => {
      if (!takeSpare(bytes)?.linkTo(path)) fs.create(path, bytes)
    },
    dropSpares: async () => {
      isDropped = true
      await filling
      for (const spare of ready.splice(0)) used.add(spare)
      await tidy()
    },
  }
}

/**
 * False where it takes a file that is made anew: somebody put a part of the store on another disk, removed the folder of spare files or
 * the file's spare name, or has a file of that name already.
 */
function succeeds(step: () => void): boolean {
  try {
    step()
    return true
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException // a file system throws nothing else
    if (!['EXDEV', 'ENOENT', 'EEXIST'].includes(code)) throw error
    return false
  }
}

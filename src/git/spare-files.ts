import type { Fs, LogHandle } from './fs.ts'
import { identityName, isDead, parseIdentity, thisProcess } from './process-identity.ts'

/** The folder of them in a store. */
const SPARE_FOLDER = '.spare'

/** So many files lie ready: what a few writes need at once. */
const READY = 12

const self = identityName(thisProcess())
let made = 0

/** A file system whose small new files are made ahead. */
export interface SpareFs extends Fs {
  /** Removes what lies ready. */
  dropSpares(): Promise<void>
}

/**
 * `fs` with a `create` that takes an empty file which lies ready in the store, writes it and gives it its name. A new inode takes
 * a journalling file system 40 to 250 µs, the more the more files were deleted lately; this way other threads wait for it while
 * nobody asks, and a write costs a link and an unlink.
 */
export function withSpareFiles(fs: Fs, store: string): SpareFs {
  const folder = `${store}/${SPARE_FOLDER}`
  const ready: Spare[] = []
  let filling: Promise<void> | undefined
  let isDropped = false

  const fill = async (): Promise<void> => {
    if (!fs.stat(folder)) fs.makeDir(folder)
    while (ready.length < READY && !isDropped) {
      const path = `${folder}/${self}.${++made}`
      ready.push({ path, file: await fs.openNew(path) })
    }
  }
  const refill = (): void => {
    if (filling || isDropped) return
    filling = new Promise<void>((resolve) => setImmediate(resolve))
      .then(fill)
      // Without a spare one, files are made when they are needed, and that one says what is wrong.
      .catch(() => undefined)
      .finally(() => {
        filling = undefined
      })
  }

  return {
    ...fs,
    create: (path, bytes) => {
      const spare = ready.pop()
      refill()
      if (!spare) return fs.create(path, bytes)
      try {
        write(spare.file, bytes)
        fs.link(spare.path, path)
      } catch (error) {
        // Somebody put a part of the store on another disk.
        if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error
        fs.create(path, bytes)
      } finally {
        fs.remove(spare.path)
      }
    },
    dropSpares: async () => {
      isDropped = true
      await filling
      for (const { path, file } of ready.splice(0)) {
        file.close()
        fs.remove(path)
      }
    },
  }
}

function write(file: LogHandle, bytes: Uint8Array): void {
  try {
    file.append(bytes)
  } finally {
    file.close()
  }
}

/** Removes what dead processes of this host left lying ready. */
export function sweepSpareFiles(fs: Fs, store: string): void {
  for (const name of fs.readDir(`${store}/${SPARE_FOLDER}`) ?? []) {
    const owner = parseIdentity(name)
    if (owner && isDead(owner)) fs.remove(`${store}/${SPARE_FOLDER}/${name}`)
  }
}

interface Spare {
  readonly path: string
  readonly file: LogHandle
}

import * as fs from 'node:fs'
import { dirname } from 'node:path/posix'
import { promisify } from 'node:util'
import { noPlaceFor, refuseShell } from './durable-folder.ts'
import { type FileStat, type Fs, type LogHandle, OWNER_ONLY, type ReadHandle } from './fs.ts'
import { execFile } from 'node:child_process'
import { release } from 'node:os'

const { O_APPEND, O_CREAT, O_NONBLOCK, O_RDONLY, O_WRONLY } = fs.constants

const fsync = promisify(fs.fsync)
const fdatasync = promisify(fs.fdatasync)
const unlink = promisify(fs.unlink)
const write = promisify(fs.write)
/** Longer data is written in the thread pool, because a synchronous write would delay all other requests. */
const LONG_WRITE = 1024 * 1024

/** For reading. Without O_NONBLOCK, opening a FIFO would wait until a process writes to it; with it, the FIFO is empty. */
const READ = flag(O_RDONLY | O_NONBLOCK)
/** For appending. With O_NONBLOCK, opening a FIFO without a reader fails instead of waiting. */
const APPEND = flag(O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK)

/** For this many paths or more, syncing them one by one takes longer than syncing their whole file systems. */
const MANY_PATHS = 128

/**
 * The real disk, through node:fs. A path below a file counts as missing, and so does a folder that is read as a file. Every other error is node's
 * own.
 */
export const nodeFs: Fs = {
  isSeenByOthers: true,

  stat(path) {
    const stats = absentAsUndefined(() => fs.lstatSync(path, { throwIfNoEntry: false }))
    return stats && toFileStat(stats)
  },

  readDir(path) {
    return absentAsUndefined(() => fs.readdirSync(path))
  },

  readFile(path) {
    try {
      return absentAsUndefined(() => fs.readFileSync(path, { flag: READ }))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EISDIR') throw error // Node throws EISDIR only if a folder is read.
      return undefined
    }
  },

  open(path) {
    const fd = openIfThere(path)
    return fd === undefined ? undefined : toReadHandle(fd)
  },

  async createSynced(path, bytes, mode) {
    const fd = fs.openSync(path, 'wx', mode)
    try {
      try {
        if (bytes.length > LONG_WRITE) await writeLong(fd, bytes)
        else fs.writeFileSync(fd, bytes)
        await fsync(fd)
      } finally {
        fs.closeSync(fd)
      }
    } catch (error) {
      fs.rmSync(path, { force: true })
      throw error
    }
  },

  create(path, bytes, mode) {
    const fd = fs.openSync(path, 'wx', mode)
    try {
      fs.writeFileSync(fd, bytes)
    } catch (error) {
      fs.rmSync(path, { force: true })
      throw error
    } finally {
      fs.closeSync(fd)
    }
  },

  createLog(path) {
    return toLogHandle(fs.openSync(path, 'wx+', OWNER_ONLY))
  },

  createFile(path) {
    // Not opened for appending: on Linux, a write at a given position would then go to the end of the file.
    const fd = fs.openSync(path, 'wx+')
    return {
      append: (bytes) => fs.writeFileSync(fd, bytes),
      read: (target, position) => fill(fd, target, position),
      overwrite: (bytes, position) => writeAt(fd, bytes, position),
      sync: () => fsync(fd),
      close: () => fs.closeSync(fd),
    }
  },

  sync: (path) => nodeFs.syncAll([path]),

  async syncAll(paths) {
    if (paths.length >= MANY_PATHS && (await syncFileSystems(paths))) return
    for (const path of paths) {
      const fd = openIfThere(path)
      if (fd !== undefined) await fsync(fd).finally(() => fs.closeSync(fd))
    }
  },

  append: (path, bytes) => fs.appendFileSync(path, bytes, { flag: APPEND, mode: OWNER_ONLY }),

  makeDir,

  rename: (from, to) => fs.renameSync(from, to),

  link: (from, to) => fs.linkSync(from, to),

  remove(path) {
    absentAsUndefined(() => fs.unlinkSync(path))
  },

  async removeAll(paths) {
    for (const path of paths) {
      await unlink(path).catch((error: NodeJS.ErrnoException) => {
        if (!isAbsence(error)) throw error
      })
    }
  },

  removeFolder(path) {
    try {
      absentAsUndefined(() => fs.rmdirSync(path))
      return true
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error // Only a folder that is not empty has this error.
      return false
    }
  },

  removeTree(path) {
    absentAsUndefined(() => fs.rmSync(path, { recursive: true, force: true }))
  },

  async syncDir(path) {
    const fd = fs.openSync(path, READ)
    await fsync(fd).finally(() => fs.closeSync(fd))
  },
}

/** node:fs takes a number for every flag, but its types allow that only for `open`. */
function flag(bits: number): string {
  return bits as unknown as string
}

function openIfThere(path: string): number | undefined {
  return absentAsUndefined(() => fs.openSync(path, READ))
}

function absentAsUndefined<T>(action: () => T): T | undefined {
  try {
    return action()
  } catch (error) {
    if (isAbsence(error as NodeJS.ErrnoException)) return undefined // node:fs throws nothing else
    throw error
  }
}

function isAbsence({ code }: NodeJS.ErrnoException): boolean {
  return code === 'ENOENT' || code === 'ENOTDIR'
}

function toFileStat(stats: fs.Stats): FileStat {
  const kind = stats.isFile() ? 'file' : stats.isDirectory() ? 'folder' : 'other'
  return {
    kind,
    size: stats.size,
    modified: stats.mtimeMs,
    inode: stats.ino,
    device: stats.dev,
    links: stats.nlink,
  }
}

/** Makes missing parents itself: node's recursive mkdir never ends below a folder in which nothing can be made (/proc). */
function makeDir(path: string): void {
  const parent = dirname(path)
  for (let attempt = 0; !makeOne(path); attempt++, makeDir(parent)) {
    if (attempt === ATTEMPTS) throw noPlaceFor(path)
    refuseShell(parent)
  }
}

/** Git removes empty folders of refs, also a folder that is about to be filled. */
const ATTEMPTS = 100

/** False if the parent is missing, or was just removed. */
function makeOne(path: string): boolean {
  try {
    fs.mkdirSync(path)
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' && dirname(path) !== path) return false
    if (code !== 'EEXIST') throw error
    if (fs.statSync(path, { throwIfNoEntry: false })?.isDirectory()) return true
    if (fs.lstatSync(path, { throwIfNoEntry: false })) throw error
    return false
  }
}

function fill(fd: number, target: Uint8Array, position: number): number {
  let filled = 0
  while (filled < target.length) {
    const got = fs.readSync(fd, target, filled, target.length - filled, position + filled)
    if (got === 0) break
    filled += got
  }
  return filled
}

function toLogHandle(fd: number): LogHandle {
  let end = 0
  return {
    append: (bytes) => {
      writeAt(fd, bytes, end)
      end += bytes.length
    },
    rewind: () => void (end = 0),
    // If only the file's bytes changed, fdatasync does not write the file system's journal.
    sync: () => fdatasync(fd),
    close: () => fs.closeSync(fd),
  }
}

function toReadHandle(fd: number): ReadHandle | undefined {
  const stats = fs.fstatSync(fd)
  if (!stats.isFile()) {
    fs.closeSync(fd)
    return undefined
  }
  return {
    size: stats.size,
    read: (target, position) => fill(fd, target, position),
    close: () => fs.closeSync(fd),
  }
}

/** A write at a position, which does not move the end for later appends (pwrite(2)). */
function writeAt(fd: number, bytes: Uint8Array, position: number): void {
  for (let written = 0; written < bytes.length;) {
    written += fs.writeSync(fd, bytes, written, bytes.length - written, position + written)
  }
}

async function writeLong(fd: number, bytes: Uint8Array): Promise<void> {
  for (let written = 0; written < bytes.length;) {
    written += (await write(fd, bytes, written, bytes.length - written)).bytesWritten
  }
}

/**
 * Syncs the whole file systems of these paths, by one syncfs(2) each: `sync -f` of coreutils and BusyBox does that. False if that is not possible
 * or not reliable; then each path has to be synced.
 */
export async function syncFileSystems(paths: readonly string[]): Promise<boolean> {
  if (!tellsOfErrors(process.platform, release())) return false
  const one = new Map<number, string>()
  for (const path of paths) {
    const stats = fs.statSync(path, { throwIfNoEntry: false })
    if (stats) one.set(stats.dev, path)
  }
  if (one.size === 0) return true
  return new Promise((resolve) => {
    execFile('sync', ['-f', '--', ...one.values()], (error) => resolve(error === null))
  })
}

/** Since version 5.8, Linux reports errors of syncfs(2) (its manual page, "Errors"). */
export function tellsOfErrors(platform: NodeJS.Platform, kernel: string): boolean {
  const [major = 0, minor = 0] = kernel.split('.').map(Number)
  return platform === 'linux' && (major > 5 || (major === 5 && minor >= 8))
}

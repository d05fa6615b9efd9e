import { Volume } from 'memfs'
import { dirname } from 'node:path/posix'
import { refuseShell } from './files/durable-folder.ts'
import type { FileHandle, FileStat, Fs, LogHandle, ReadHandle } from './files/fs.ts'

type Memory = InstanceType<typeof Volume>

/**
 * A file system in memory that behaves as `nodeFs`, for tests and for servers that keep nothing. Each call makes a new one. "On the disk"
 * means in memory.
 */
export function memoryFs(): Fs {
  const volume = new Volume()
  const create = (path: string, bytes: Uint8Array, mode = 0o666) =>
    volume.writeFileSync(path, Buffer.from(bytes), { flag: 'wx', mode })

  return {
    isSeenByOthers: false,
    stat: (path) => statOf(volume, path),
    // with the encoding utf8 memfs answers names as strings, which its type does not say
    readDir: (path) =>
      statOf(volume, path)?.kind === 'folder'
        ? (volume.readdirSync(path, { encoding: 'utf8' }) as string[])
        : undefined,
    // without an encoding memfs answers a Buffer, which its type does not say
    readFile: (path) =>
      statOf(volume, path)?.kind === 'file' ? Buffer.from(volume.readFileSync(path) as Buffer) : undefined,
    open: (path) => (statOf(volume, path)?.kind === 'file' ? openHandle(volume, path) : undefined),
    createSynced: async (path, bytes, mode) => create(path, bytes, mode),
    create,
    createLog: (path) => createLog(volume, path),
    createFile: (path) => createHandle(volume, path),
    sync: async () => undefined,
    syncAll: async () => undefined,
    append: (path, bytes) => volume.appendFileSync(path, Buffer.from(bytes)),
    makeDir: (path) => {
      for (let folder = dirname(path); !statOf(volume, folder); folder = dirname(folder)) refuseShell(folder)
      volume.mkdirSync(path, { recursive: true })
    },
    rename: (from, to) => {
      refuseOverwriting(volume, from, to)
      volume.renameSync(from, to)
    },
    link: (from, to) => volume.linkSync(from, to),
    remove: (path) => {
      if (statOf(volume, path)) volume.unlinkSync(path)
    },
    removeAll: async (paths) => {
      for (const path of paths) if (statOf(volume, path)) volume.unlinkSync(path)
    },
    removeFolder: (path) => {
      if (statOf(volume, path)?.kind !== 'folder') return true
      if (volume.readdirSync(path).length > 0) return false
      volume.rmdirSync(path)
      return true
    },
    removeTree: (path) => {
      if (statOf(volume, path)) volume.rmSync(path, { recursive: true, force: true })
    },
    syncDir: async (path) => void volume.readdirSync(path),
  }
}

function createLog(volume: Memory, path: string): LogHandle {
  const file = createHandle(volume, path)
  let end = 0
  let size = 0
  return {
    append: (bytes) => {
      const within = Math.min(bytes.length, size - end)
      if (within > 0) file.overwrite(bytes.subarray(0, within), end)
      if (within < bytes.length) file.append(bytes.subarray(within))
      end += bytes.length
      size = Math.max(size, end)
    },
    rewind: () => {
      end = 0
    },
    sync: file.sync,
    close: file.close,
  }
}

function statOf(volume: Memory, path: string): FileStat | undefined {
  const stats = lstat(volume, path)
  if (!stats) return undefined
  const kind = stats.isFile() ? 'file' : stats.isDirectory() ? 'folder' : 'other'
  // without the bigint option these are numbers; memfs types them as number | bigint
  return {
    kind,
    size: Number(stats.size),
    modified: Number(stats.mtimeMs),
    inode: Number(stats.ino),
    device: Number(stats.dev),
    links: Number(stats.nlink),
  }
}

function lstat(volume: Memory, path: string) {
  try {
    return volume.lstatSync(path, { throwIfNoEntry: false })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return undefined // memfs throws node's errors
    throw error
  }
}

function openHandle(volume: Memory, path: string): ReadHandle {
  const fd = volume.openSync(path, 'r')
  return {
    size: Number(volume.fstatSync(fd).size),
    read: (target, position) => volume.readSync(fd, target, 0, target.length, position),
    close: () => volume.closeSync(fd),
  }
}

function createHandle(volume: Memory, path: string): FileHandle {
  const fd = volume.openSync(path, 'wx+')
  let end = 0
  return {
    append: (bytes) => void (end += volume.writeSync(fd, bytes, 0, bytes.length, end)),
    read: (target, position) => volume.readSync(fd, target, 0, target.length, position),
    overwrite: (bytes, position) => void volume.writeSync(fd, bytes, 0, bytes.length, position),
    sync: async () => undefined,
    close: () => volume.closeSync(fd),
  }
}

/** Refuses renames that POSIX refuses and memfs does not: over a folder that is not empty, and between files and folders. */
function refuseOverwriting(volume: Memory, from: string, to: string): void {
  const source = statOf(volume, from)
  const target = statOf(volume, to)
  if (!source || !target) return
  if (target.kind === 'folder' && source.kind !== 'folder') throw renameError('EISDIR', from, to)
  if (target.kind !== 'folder' && source.kind === 'folder') throw renameError('ENOTDIR', from, to)
  if (target.kind === 'folder' && volume.readdirSync(to).length > 0) throw renameError('ENOTEMPTY', from, to)
}

function renameError(code: string, from: string, to: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: rename '${from}' -> '${to}'`), { code, syscall: 'rename' })
}

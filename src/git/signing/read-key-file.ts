import * as fs from 'node:fs'
import { CorruptObject } from '../objects/errors.ts'

/** Larger than any file of keys. */
const MAX_BYTES = 1024 * 1024

/**
 * Reads a small text file that the operator named, anywhere on this machine: not the store's, so not through its `Fs`, and symbolic
 * links are followed. Throws `CorruptObject`; also, where it is to be `secret`, for a file that other users may read.
 */
export function readKeyFile(path: string, { secret }: { readonly secret: boolean }): string {
  let fd: number
  try {
    fd = fs.openSync(path, 'r')
  } catch (error) {
    // node:fs throws nothing else
    const { code } = error as NodeJS.ErrnoException
    throw new CorruptObject(code === 'ENOENT' ? 'is not there' : `cannot be opened (${code})`)
  }
  try {
    // What is looked at is what is read, whatever the name comes to mean.
    const stats = fs.fstatSync(fd)
    if (!stats.isFile()) throw new CorruptObject('is not a file')
    if (stats.size > MAX_BYTES) throw new CorruptObject(`has ${stats.size} bytes, which no such file has`)
    if (secret) assertSecret(path, stats)
    return fs.readFileSync(fd, 'utf8')
  } finally {
    fs.closeSync(fd)
  }
}

/** As ssh does for its keys; the group of a file that is somebody else's may be how this process reads it at all. */
function assertSecret(path: string, { mode, uid }: fs.Stats): void {
  if (!process.getuid) return
  const toOthers = uid === process.getuid() ? 0o077 : 0o007
  if ((mode & toOthers) === 0) return
  throw new CorruptObject(
    `can be read by others (its mode is ${(mode & 0o777).toString(8)}); run  chmod 600 '${path}'`,
  )
}

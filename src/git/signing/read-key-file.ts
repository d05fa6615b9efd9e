import * as fs from 'node:fs'
import { CorruptObject } from '../objects/errors.ts'

const MAX_BYTES = 1024 * 1024

/**
 * Reads a small text file named by the operator, anywhere on the machine. It is not in the store, so it is not read through its `Fs`, and
 * symbolic links are followed. Throws `CorruptObject` if the file cannot be used or, with `secret`, if other users may read it.
 */
export function readKeyFile(path: string, { secret }: { readonly secret: boolean }): string {
  let fd: number
  try {
    fd = fs.openSync(path, 'r')
  } catch (error) {
    // node:fs throws no other type
    const { code } = error as NodeJS.ErrnoException
    throw new CorruptObject(code === 'ENOENT' ? 'is not there' : `cannot be opened (${code})`)
  }
  try {
    // Checks the open file, even if its name is replaced meanwhile.
    const stats = fs.fstatSync(fd)
    if (!stats.isFile()) throw new CorruptObject('is not a file')
    if (stats.size > MAX_BYTES) throw new CorruptObject(`has ${stats.size} bytes, which no such file has`)
    if (secret) assertSecret(path, stats)
    return fs.readFileSync(fd, 'utf8')
  } finally {
    fs.closeSync(fd)
  }
}

/** As ssh does. If the file belongs to another user, its group may read it, because this process may be in that group. */
function assertSecret(path: string, { mode, uid }: fs.Stats): void {
  if (!process.getuid) return
  const toOthers = uid === process.getuid() ? 0o077 : 0o007
  if ((mode & toOthers) === 0) return
  throw new CorruptObject(
    `can be read by others (its mode is ${(mode & 0o777).toString(8)}); run  chmod 600 '${path}'`,
  )
}

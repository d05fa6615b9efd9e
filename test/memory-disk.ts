import { accessSync, constants, statfsSync } from 'node:fs'

/** More than the tests ever have on the disk at once. */
const ENOUGH = 4 * 1024 ** 3

/**
 * Stores of tests lie in memory where Linux has room for them there: on a disk their files, a hundred times made, copied and removed,
 * take most of the time that the tests take. `TMPDIR=/tmp npm test` has them on the disk.
 */
if (process.env['TMPDIR'] === undefined && hasRoom('/dev/shm')) process.env['TMPDIR'] = '/dev/shm'

function hasRoom(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK)
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize >= ENOUGH
  } catch {
    return false
  }
}

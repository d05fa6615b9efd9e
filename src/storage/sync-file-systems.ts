import { execFile } from 'node:child_process'
import { statSync } from 'node:fs'
import { release } from 'node:os'

/** Whether paths are so many that they take longer one by one than all that was written to their file systems. */
export function isWorthWhile(paths: readonly string[]): boolean {
  return paths.length >= 128
}

/**
 * Has everything that was written to the file systems of these paths on the disk, by one syncfs(2) each, which `sync -f` of coreutils
 * and BusyBox does. False where that cannot be, or cannot be told: then each path has to be synced by itself.
 */
export async function syncFileSystems(paths: readonly string[]): Promise<boolean> {
  if (!tellsOfErrors(process.platform, release())) return false
  const one = new Map<number, string>()
  for (const path of paths) {
    const stats = statSync(path, { throwIfNoEntry: false })
    if (stats) one.set(stats.dev, path)
  }
  if (one.size === 0) return true
  return new Promise((resolve) => {
    execFile('sync', ['-f', '--', ...one.values()], (error) => resolve(error === null))
  })
}

/** Linux says since 5.8 whether what syncfs(2) wrote has come to the disk (its manual page, "Errors"). */
export function tellsOfErrors(platform: NodeJS.Platform, kernel: string): boolean {
  const [major = 0, minor = 0] = kernel.split('.').map(Number)
  return platform === 'linux' && (major > 5 || (major === 5 && minor >= 8))
}

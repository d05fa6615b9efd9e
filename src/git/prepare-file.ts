import type { Fs } from './fs.ts'

/**
 * Writes a file that nobody sees yet, without waiting for the disk, and answers how it gets its name, in one step and in the place of
 * a file that has it already. Where no spare file can be had it lies under the name `temporary` until then.
 */
export function prepareFile(fs: Fs, temporary: string, bytes: Uint8Array): (path: string) => void {
  const spare = fs.takeSpare?.(bytes)
  if (!spare) fs.create(temporary, bytes)
  return (path) => {
    if (spare?.linkTo(path)) return
    if (spare) fs.create(temporary, bytes)
    fs.rename(temporary, path)
  }
}

import { renameSync, rmSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { invalid } from '../../../errors.ts'
import { systemProblem } from '../../command/system-problem.ts'
import { isGzipName } from '../../../resources/testsets/import/files/file-type.ts'

/** Where an export goes. */
export interface OutputFile {
  /** Writes everything; a file has its name only then, and an error or an abort leaves nothing of it. */
  write(bytes: AsyncIterable<Buffer>, signal: AbortSignal): Promise<void>
}

/** A file, compressed if its name ends in `.gz`. Refuses one that exists, unless it may be replaced. */
export function outputFile(path: string, { force }: { readonly force: boolean }): OutputFile {
  const refuseTaken = (): void => {
    const there = statSync(path, { throwIfNoEntry: false })
    if (there && !there.isFile())
      throw invalid(['--to'], `"${path}" is there and is not a file; name another one.`)
    if (there && !force) throw invalid(['--to'], `"${path}" exists; add --force to replace it.`)
  }
  refuseTaken()
  const temporary = `${path}.${process.pid}.part`
  return {
    write: async (bytes, signal) => {
      try {
        // A stream that opens it could do so after it was given up and removed.
        const file = (await open(temporary, 'wx')).createWriteStream()
        await (isGzipName(path)
          ? pipeline(bytes, createGzip(), file, { signal })
          : pipeline(bytes, file, { signal }))
        refuseTaken()
        renameSync(temporary, path)
      } catch (error) {
        rmSync(temporary, { force: true })
        const problem = systemProblem(error)
        throw problem === undefined ? error : invalid(['--to'], `"${path}" cannot be written: ${problem}.`)
      }
    },
  }
}

/** Standard output, or another stream that stays open. */
export function outputStream(stream: Writable): OutputFile {
  return { write: (bytes, signal) => pipeline(bytes, stream, { signal, end: false }) }
}

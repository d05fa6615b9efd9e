import { open } from 'node:fs/promises'
import { type Readable, addAbortSignal } from 'node:stream'
import { Refusal, invalid } from '../../../errors.ts'
import { systemProblem } from '../../command/system-problem.ts'

/** A file that is read once, from its beginning to its end. */
export interface InputFile {
  /** As the command line names it. */
  readonly path: string
  /** Bytes on the disk; undefined for what has no size, such as a pipe. */
  readonly size: number | undefined
  /** Bytes of it that have been taken so far. */
  readonly taken: () => number
  /** What is in it. */
  chunks(): AsyncGenerator<Buffer>
  /** Lets go of a file that is not read to its end. */
  close(): void
}

export interface InputOptions {
  /** Ends the reading, with an AbortError, also while it waits for more. */
  readonly signal: AbortSignal
  /** Most bytes of it. */
  readonly maxBytes: number
}

/** Opens a file, or with `-` standard input. Refuses what cannot be read, and what is larger than the limit. */
export async function openInput(path: string, { signal, maxBytes }: InputOptions): Promise<InputFile> {
  const { stream, size } = path === '-' ? { stream: process.stdin, size: undefined } : await openFile(path)
  if (size !== undefined && size > maxBytes) {
    stream.destroy()
    throw tooLarge(path, maxBytes)
  }
  let taken = 0
  async function* counted(): AsyncGenerator<Buffer> {
    for await (const chunk of addAbortSignal(signal, stream) as AsyncIterable<Buffer>) {
      taken += chunk.length
      yield chunk
    }
  }
  return {
    path,
    size,
    taken: () => taken,
    close: () => stream.destroy(),
    chunks: async function* () {
      let given = 0
      try {
        for await (const chunk of counted()) {
          given += chunk.length
          if (given > maxBytes) throw tooLarge(path, maxBytes)
          yield chunk
        }
      } catch (error) {
        throw readingProblem(path, error)
      }
    },
  }
}

async function openFile(path: string): Promise<{ stream: Readable; size: number | undefined }> {
  try {
    const file = await open(path)
    const stats = await file.stat()
    if (stats.isDirectory()) {
      await file.close()
      throw invalid(['file'], `"${path}" is a folder; name a file of rows.`)
    }
    return { stream: file.createReadStream(CHUNKS), size: stats.isFile() ? stats.size : undefined }
  } catch (error) {
    throw readingProblem(path, error)
  }
}

const CHUNKS = { highWaterMark: 256 * 1024 }

function readingProblem(path: string, error: unknown): unknown {
  const problem = systemProblem(error)
  return problem === undefined ? error : invalid(['file'], `"${path}" cannot be read: ${problem}.`)
}

function tooLarge(path: string, maxBytes: number): Refusal {
  return new Refusal(
    'limit_exceeded',
    `"${path}" holds more than ${maxBytes} bytes, the limit of this service for a file; split it, or set UPLOAD_MAX_BYTES.`,
    { details: { limit_bytes: maxBytes } },
  )
}

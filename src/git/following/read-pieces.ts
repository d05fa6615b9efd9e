import type { Fs } from '../../storage/fs.ts'

/** So many bytes are a piece. */
export const PIECE = 1024 * 1024

/** What a file holds, in pieces, read one by one. */
export async function* readPieces(fs: Fs, path: string): AsyncGenerator<Buffer> {
  const handle = fs.open(path)
  if (!handle) throw new Error(`${path} is gone`)
  try {
    for (let position = 0; position < handle.size;) {
      const piece = Buffer.allocUnsafe(Math.min(PIECE, handle.size - position))
      const length = handle.read(piece, position)
      if (length === 0) throw new Error(`${path} is shorter than it was`)
      position += length
      yield piece.subarray(0, length)
    }
  } finally {
    handle.close()
  }
}

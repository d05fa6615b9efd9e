import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** Writes pieces of text to a file, never holding more than a few hundred KB of them. Answers how many bytes there are. */
export async function writeTextFile(file: string, pieces: Iterable<string>): Promise<number> {
  const target = createWriteStream(file)
  await pipeline(Readable.from(stretches(pieces)), target)
  return target.bytesWritten
}

/** A write for each line would take longer than making it. */
function* stretches(pieces: Iterable<string>): Generator<Buffer> {
  let text = ''
  for (const piece of pieces) {
    text += piece
    if (text.length < 65_536) continue
    yield Buffer.from(text)
    text = ''
  }
  if (text !== '') yield Buffer.from(text)
}

import type { Readable } from 'node:stream'

/** Past any secret; more is not held. */
const MAX_BYTES = 1024 * 1024

/**
 * Reads a secret's value from a pipe or file: all of it but one line break at its end, which `echo` and editors add. Undefined for what
 * is no UTF-8, or far longer than any secret.
 */
export async function readValue(input: Readable): Promise<string | undefined> {
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of input as AsyncIterable<Buffer>) {
    pieces.push(piece)
    size += piece.length
    if (size > MAX_BYTES) return undefined
  }
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(pieces))
    return text.replace(/\r?\n$/, '')
  } catch {
    return undefined // a TypeError is all that a fatal decoder throws
  }
}

import { damaged } from './damaged.ts'

/**
 * The text of a file in strict UTF-8; refuses other bytes with `damaged_repository` naming line and column. A byte order
 * mark belongs to a source (`keepMark`), and to nobody in front of JSON.
 */
export function decodeText(path: string, bytes: Buffer, keepMark: boolean): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: keepMark }).decode(bytes)
  } catch {
    throw damaged(`${path}: line ${placeOfInvalid(bytes)}: the bytes there are not valid UTF-8.`)
  }
}

/** Line and column of the first bytes that are no UTF-8: what is valid before them encodes to the same bytes again. */
function placeOfInvalid(bytes: Buffer): string {
  const again = Buffer.from(bytes.toString())
  const end = bytes.findIndex((byte, index) => byte !== again[index])
  const lines = bytes
    .subarray(0, end === -1 ? bytes.length : end)
    .toString()
    .split('\n')
  return `${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`
}

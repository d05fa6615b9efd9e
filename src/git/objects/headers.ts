import { Refusal } from '../../errors.ts'

/** One header of a commit or tag; a value of several lines (a signature, a merged tag) holds newlines. */
export interface ObjectHeader {
  readonly key: string
  readonly value: string
}

/**
 * Takes a commit or tag apart: header lines up to the first empty line, the message after it. A line that starts with a
 * space continues the header before it. A missing empty line means an empty message, as it does to git. Text is read as
 * UTF-8 whatever an `encoding` header says.
 */
export function parseHeaders(bytes: Buffer): { headers: readonly ObjectHeader[]; message: string } {
  const text = bytes.toString()
  const headers: ObjectHeader[] = []
  let start = 0
  while (start < text.length && text[start] !== '\n') {
    const end = endOfLine(text, start)
    const line = text.slice(start, end)
    start = end + 1
    const last = headers.at(-1)
    if (line[0] === ' ' && last) {
      headers[headers.length - 1] = { key: last.key, value: `${last.value}\n${line.slice(1)}` }
    } else {
      const space = line.indexOf(' ')
      headers.push(
        space < 0 ? { key: line, value: '' } : { key: line.slice(0, space), value: line.slice(space + 1) },
      )
    }
  }
  return { headers, message: text.slice(start + 1) }
}

/** The object id that header number `index` must hold; without it the object is nothing that git would read either. */
export function requiredOid(headers: readonly ObjectHeader[], index: number, key: string): string {
  const header = headers[index]
  if (header?.key === key && /^[0-9a-f]{40}$/.test(header.value)) return header.value
  throw new Refusal(
    'damaged_repository',
    `A commit or tag lacks its "${key}" line where git puts it; run git fsck in the repository to find it.`,
  )
}

function endOfLine(text: string, start: number): number {
  const end = text.indexOf('\n', start)
  return end < 0 ? text.length : end
}

/** git's framing (gitprotocol-common(5)): four hex digits with the length, including themselves, then the content. */
export function pktLine(content: string | Buffer): Buffer {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  if (bytes.length > LONGEST)
    throw new RangeError(`a pkt-line holds at most ${LONGEST} bytes, not ${bytes.length}`)
  return Buffer.concat([Buffer.from((bytes.length + 4).toString(16).padStart(4, '0')), bytes])
}

/** Ends a list of lines. */
export const FLUSH = Buffer.from('0000')

/** Maximum bytes of a line's content. */
export const LONGEST = 65516

/** Bytes on a separate band (side-band-64k, gitprotocol-capabilities(5)), in as many lines as needed. */
export function onBand(band: 1 | 2, bytes: Buffer): Buffer {
  const lines: Buffer[] = []
  for (let at = 0; at < bytes.length; at += LONGEST - 1) {
    lines.push(pktLine(Buffer.concat([Buffer.from([band]), bytes.subarray(at, at + LONGEST - 1)])))
  }
  return Buffer.concat(lines)
}

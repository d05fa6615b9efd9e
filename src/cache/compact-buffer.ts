/** The bytes in memory of their own, to be kept: node cuts small buffers from pieces of 8 KB, and one that is kept keeps its whole piece. */
export function ownBytes(from: Buffer | string): Buffer {
  if (typeof from !== 'string') return copyOf(from)
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(from))
  bytes.write(from)
  return bytes
}

function copyOf(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length)
  bytes.copy(copy)
  return copy
}

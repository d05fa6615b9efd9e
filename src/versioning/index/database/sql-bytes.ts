/** Hexadecimal digits as the bytes that the tables have. */
export function bytesOf(hex: string): Buffer {
  return Buffer.from(hex, 'hex')
}

/** The digits of bytes that a statement gave. */
export function hexOf(bytes: ArrayBuffer): string {
  return Buffer.from(bytes).toString('hex')
}

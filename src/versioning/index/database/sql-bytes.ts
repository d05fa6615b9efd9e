/** Hexadecimal digits as the bytes that the tables have. */
export function bytesOf(hex: string): Buffer {
  return Buffer.from(hex, 'hex')
}

/**
 * Text that a statement gave as bytes, `CAST(… AS BLOB)`: so is every text of the index read, since one that a flipped bit has made no UTF-8
 * ends the process in the library.
 */
export function utf8Of(bytes: ArrayBuffer | null): string {
  return bytes === null ? '' : Buffer.from(bytes).toString('utf8')
}

/** The digits of bytes that a statement gave. */
export function hexOf(bytes: ArrayBuffer): string {
  return Buffer.from(bytes).toString('hex')
}

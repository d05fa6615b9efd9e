/** A trace id as it is kept, 32 hex digits in lower case, from any form that clients send: with `0x`, or as a UUID. */
export function readTraceId(text: string): string | undefined {
  return hexOf(text, 32)
}

/** A span id as it is kept, 16 hex digits in lower case; as a UUID it has zeros in front. */
export function readSpanId(text: string): string | undefined {
  const long = hexOf(text, 32)
  return long?.startsWith('0'.repeat(16)) ? long.slice(16) : hexOf(text, 16)
}

function hexOf(text: string, digits: number): string | undefined {
  const bare = text.replace(/^0x/i, '').replaceAll('-', '').toLowerCase()
  return bare.length === digits && /^[0-9a-f]+$/.test(bare) ? bare : undefined
}

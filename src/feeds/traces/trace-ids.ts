import { randomBytes } from 'node:crypto'

/** A trace id in stored form, 32 hex digits in lower case, from any form that clients send: with `0x`, or as a UUID. */
export function readTraceId(text: string): string | undefined {
  return hexOf(text, 32)
}

/** A span id in stored form, 16 hex digits in lower case; a UUID has zeros in front. */
export function readSpanId(text: string): string | undefined {
  const long = hexOf(text, 32)
  return long?.startsWith('0'.repeat(16)) ? long.slice(16) : hexOf(text, 16)
}

function hexOf(text: string, digits: number): string | undefined {
  const bare = text.replace(/^0x/i, '').replaceAll('-', '').toLowerCase()
  return bare.length === digits && /^[0-9a-f]+$/.test(bare) ? bare : undefined
}

/**
 * Random hex digits, two for each of `bytes`, for ids that are not secret. They are cut from a text made for many ids at once: a call of
 * randomBytes for each takes thirty times as long, and an invocation needs several.
 */
export function randomHex(bytes: number): string {
  const digits = 2 * bytes
  if (used + digits > pool.length) {
    pool = randomBytes(POOL_BYTES).toString('hex')
    used = 0
  }
  used += digits
  return pool.slice(used - digits, used)
}

const POOL_BYTES = 4096
let pool = ''
let used = 0

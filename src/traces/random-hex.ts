import { randomFillSync } from 'node:crypto'

/** So many random bytes in hex, for ids that nobody needs to be kept from guessing: asking the system once for many is ten times as quick. */
export function randomHex(bytes: number): string {
  if (used + bytes > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  used += bytes
  return pool.toString('hex', used - bytes, used)
}

const pool = Buffer.alloc(4096)
let used = pool.length

import { randomBytes } from 'node:crypto'

/**
 * So many random hex digits, for ids that nobody needs to be kept from guessing: cut out of a long text, which is made for many at once.
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

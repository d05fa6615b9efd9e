import { randomHex } from './random-hex.ts'

/**
 * A trace id of our own, 32 hex digits: the milliseconds since 1970 in 48 bits, then 80 random ones (W3C Trace Context asks for
 * randomness in the right half). Ids that grow with time are stored side by side; random ones would have a batch of traces write a
 * page of the index each.
 */
export function newTraceId(): string {
  const now = Date.now()
  // Writing a large number in hex takes longer than all the rest, and many traces begin within a millisecond.
  if (now !== lastTime) {
    lastTime = now
    lastText = now.toString(16).padStart(12, '0')
  }
  return lastText + randomHex(10)
}

let lastTime = 0
let lastText = ''

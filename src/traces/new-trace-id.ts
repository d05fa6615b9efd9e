import { randomHex } from './random-hex.ts'

/**
 * A trace id of our own, 32 hex digits: the milliseconds since 1970 in 48 bits, then 80 random ones (W3C Trace Context asks for
 * randomness in the right half). Ids that grow with time are stored side by side; random ones would have a batch of traces write a
 * page of the index each.
 */
export function newTraceId(): string {
  return Date.now().toString(16).padStart(12, '0') + randomHex(10)
}

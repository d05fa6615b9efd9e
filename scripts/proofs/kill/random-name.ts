import { randomBytes } from 'node:crypto'

/** A name that nothing else has. */
export function randomName(): string {
  return randomBytes(8).toString('hex')
}

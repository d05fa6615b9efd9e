import { setTimeout as pause } from 'node:timers/promises'
import { Refusal } from '../errors.ts'
import { RefMoved } from './ref-update.ts'

/** How often a write is worked out anew because another process moved a ref first. */
const ATTEMPTS = 200

/**
 * Works a write out, the first time or anew, until no other writer moves its refs meanwhile; refuses with `locked` if that never
 * comes to be.
 */
export async function untilUnmoved<T>(gitdir: string, work: (isFirst: boolean) => Promise<T>): Promise<T> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    try {
      return await work(attempt === 1)
    } catch (error) {
      if (!(error instanceof RefMoved)) throw error
      await pause(Math.random() * Math.min(attempt, 20))
    }
  }
  throw new Refusal(
    'locked',
    `${gitdir}: other writers moved the same refs ${ATTEMPTS} times in a row. Try again in a moment.`,
  )
}

import { Refusal } from '../../errors.ts'
import type { Release, Semaphore } from '../../base/scheduling.ts'
import type { Spools } from '../body/spool.ts'

/** The resources of a request to git. */
export interface GitRoom {
  /** Stores the client's data until all of it has arrived, so that a slow client holds no permit meanwhile. */
  readonly spools: Spools
  /** See `acquireForGit`. */
  readonly acquire: (signal: AbortSignal) => Promise<Release>
}

/** Maximum waiting requests of a project for each permit. */
const WAITING_PER_PERMIT = 4

/**
 * Acquires a permit for git's programs: they take memory and processor time, and too many only slow each other down. Refuses with
 * `overloaded` if too many requests of the project wait, and rejects if the signal is aborted first.
 */
export async function acquireForGit(
  permits: Semaphore,
  project: string,
  signal: AbortSignal,
): Promise<Release> {
  const mostWaiting = permits.capacity * WAITING_PER_PERMIT
  const release = await permits.acquire({ key: project, signal, mostWaiting })
  if (release) return release
  throw new Refusal(
    'overloaded',
    'So many clones, fetches and pushes of this project are under way that this one would wait long. Try again in a moment.',
  )
}

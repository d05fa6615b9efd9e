import { Refusal } from '../../errors.ts'
import type { Release, Semaphore } from '../../base/scheduling.ts'
import type { Spools } from '../body/spool.ts'

/** What a request to git takes while it is worked on. */
export interface GitRoom {
  /** Where what the client sends is kept until all of it is there: one who sends slowly, or never, has no permit meanwhile. */
  readonly spools: Spools
  /** See `acquireForGit`. */
  readonly acquire: (signal: AbortSignal) => Promise<Release>
}

/** How many of a project wait for each permit there is. */
const WAITING_PER_PERMIT = 4

/**
 * A permit to have git work: its programs take memory and processor time, and more of them than the machine can run only make each
 * other slower. Refuses with `overloaded` when too many of the project wait, and rejects when the signal comes first.
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

import { yieldToEventLoop } from '../../scheduling/cooperative.ts'
import { counts } from '../../metrics/counters.ts'
import type { Fs } from '../../storage/fs.ts'
import { maintain } from './maintain.ts'

/** Milliseconds between two rounds, and before the first. */
const EVERY = 30_000

const REPOSITORIES_BETWEEN_YIELDS = 20

/**
 * Goes through the repositories again and again and tidies up those that need it, one at a time. Answers how to stop it, which
 * ends what is under way. `repositories` lists them anew for each round.
 */
export function startMaintenance(
  fs: Fs,
  repositories: () => readonly string[],
  every = EVERY,
): () => Promise<void> {
  // The git program sees no store in memory.
  if (!fs.isSeenByOthers) return async () => undefined
  const stopping = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let round: Promise<void> = Promise.resolve()
  const again = (): void => {
    timer = setTimeout(() => {
      round = goThrough(fs, repositories, stopping.signal).then(() => {
        if (!stopping.signal.aborted) again()
      })
    }, every).unref()
  }
  again()
  return async () => {
    stopping.abort()
    clearTimeout(timer)
    await round
  }
}

async function goThrough(fs: Fs, repositories: () => readonly string[], signal: AbortSignal): Promise<void> {
  let looked = 0
  for (const gitdir of listed(repositories)) {
    if (signal.aborted) return
    // A disk that fails here, or a git that is missing, fails nobody: it is tried again with the next round.
    const tidied = await maintain(fs, gitdir, { signal }).catch(() => undefined)
    if (tidied) counts.tidied++
    if (++looked % REPOSITORIES_BETWEEN_YIELDS === 0) await yieldToEventLoop()
  }
  counts.upkeepRounds++
}

function listed(repositories: () => readonly string[]): readonly string[] {
  try {
    return repositories()
  } catch {
    return []
  }
}

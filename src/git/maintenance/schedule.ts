import { yieldToEventLoop } from '../../base/scheduling.ts'
import { counts } from '../../base/counters.ts'
import type { Fs } from '../../storage/files.ts'
import { maintain } from './maintain.ts'

const MS_BETWEEN_ROUNDS = 30_000

const REPOSITORIES_BETWEEN_YIELDS = 20

/**
 * Tidies up repositories that need it, one at a time, again and again. `repositories` lists them for each round. Answers a function that
 * stops this, including the current work.
 */
export function startMaintenance(
  fs: Fs,
  repositories: () => readonly string[],
  every = MS_BETWEEN_ROUNDS,
): () => Promise<void> {
  // Git cannot see a store in memory.
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
    // Errors of the disk, or a missing git, are ignored; the next round tries again.
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

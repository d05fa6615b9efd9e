import { readdirSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'

/**
 * Locks, staged packs and incoming objects in a repository that nobody removes, by their paths in it. A server has some while it is at work
 * (packs are rolled up a second after they came), and one that has started removes those of the dead at rest; so none is told of that goes.
 */
export async function leftBehind(gitdir: string): Promise<readonly string[]> {
  const until = Date.now() + GONE_WITHIN
  for (;;) {
    const left = readdirSync(gitdir, { recursive: true, encoding: 'utf8' }).filter((file) =>
      TEMPORARY.test(file),
    )
    if (left.length === 0 || Date.now() > until) return left
    await pause(100)
  }
}

const TEMPORARY = /\.lock$|(?:^|\/)tmp_|(?:^|\/)objects\/incoming-/

/** In milliseconds; a fraction of a second unless the machine is very busy. */
const GONE_WITHIN = 30_000

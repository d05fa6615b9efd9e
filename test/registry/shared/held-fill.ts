import type { OpenLog, SharedLog } from '../../../src/cluster/following/shared-log.ts'

/** A log of which a new folder gets no more, by itself, than it is let have. */
export interface HeldFill {
  readonly openLog: OpenLog
  /** The repositories behind which a page was asked for. */
  readonly asked: string[]
  /** Lets the fill have so many repositories more, a page each: of a longer page a busy machine would take only a part. */
  allow(repositories: number): void
}

/**
 * Says that it has many repositories, so that a folder is served before it has all. A page that the fill may not have fails, and the fill
 * asks for it again a second later.
 */
export function heldFill(openLog: OpenLog): HeldFill {
  let allowed = 0
  const asked: string[] = []
  return {
    openLog: async (stream) => {
      const log = await openLog(stream)
      const statesBehind: SharedLog['statesBehind'] = async (repository, most) => {
        asked.push(repository)
        if (allowed === 0) throw new Error('no more pages for now')
        allowed--
        return log.statesBehind(repository, Math.min(most, 1))
      }
      return replacing(log, { count: async () => 5000, statesBehind })
    },
    asked,
    allow: (repositories) => {
      allowed += repositories
    },
  }
}

/** The log with some things in the place of its own. */
function replacing(log: SharedLog, others: Partial<SharedLog>): SharedLog {
  return new Proxy(log, {
    get: (target, name) => {
      const found: unknown = Reflect.get(name in others ? others : target, name, target)
      return typeof found === 'function' ? found.bind(target) : found
    },
  })
}

import { DatabaseAway } from '../errors.ts'
import type { Fs } from '../storage/fs.ts'
import type { BeforeTakeOver } from '../storage/lock-file.ts'
import { holdingLock } from '../storage/lock-file.ts'

/** So many claims are made at most before other servers get their turn. */
const MOST_TOGETHER = 64

/**
 * Who may claim slugs in a project, among all server processes: whoever holds the lock `slugs` of its folder. Those of this process that
 * wait when it gets the lock share it, and go on beside each other as far as they claim other names. Where the database that decides is away,
 * whoever waits for one that was refused is refused with it.
 */
export class SlugClaims {
  readonly #fs: Fs
  readonly #folder: string
  readonly #finish: BeforeTakeOver
  #waiting: Claim[] = []
  #isAtWork = false

  constructor(fs: Fs, folder: string, finish: BeforeTakeOver) {
    this.#fs = fs
    this.#folder = folder
    this.#finish = finish
  }

  /** Runs `work` while nobody else claims any of these names; without names, while nobody else claims any. */
  run<T>(work: () => Promise<T>, names?: readonly string[]): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ names, work: async () => resolve(await work()), reject })
      if (!this.#isAtWork) void this.#workOff()
    })
  }

  async #workOff(): Promise<void> {
    this.#isAtWork = true
    while (this.#waiting.length > 0) {
      const claims = this.#waiting.splice(0, MOST_TOGETHER)
      try {
        await holdingLock(this.#fs, this.#folder, 'slugs', () => runTogether(claims), this.#finish)
      } catch (error) {
        const behind = error instanceof DatabaseAway ? this.#waiting.splice(0) : []
        // Those whose work has come to an end have their answer.
        for (const { reject } of [...claims, ...behind])
          reject(error instanceof DatabaseAway ? error.behind() : error)
      }
    }
    this.#isAtWork = false
  }
}

interface Claim {
  readonly names: readonly string[] | undefined
  readonly work: () => Promise<void>
  readonly reject: (error: unknown) => void
}

/** Each waits for those before it that claim one of its names, or any. Throws a DatabaseAway that one of them threw. */
async function runTogether(claims: readonly Claim[]): Promise<void> {
  const latest = new Map<string, Promise<void>>()
  let begun: Promise<void>[] = []
  let alone: Promise<void> = Promise.resolve()
  let away: DatabaseAway | undefined
  const run = async ({ work, reject }: Claim): Promise<void> => {
    try {
      if (away) throw away.behind()
      await work()
    } catch (error) {
      if (error instanceof DatabaseAway) away = error
      reject(error)
    }
  }
  for (const claim of claims) {
    const { names } = claim
    const before = names ? [alone, ...names.flatMap((name) => latest.get(name) ?? [])] : [alone, ...begun]
    const over = Promise.all(before).then(() => run(claim))
    begun.push(over)
    for (const name of names ?? []) latest.set(name, over)
    if (names) continue
    alone = over
    begun = [over]
  }
  await Promise.all(begun)
  if (away) throw away
}

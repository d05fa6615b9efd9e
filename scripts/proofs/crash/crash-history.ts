import { Refusal } from '../../../src/errors.ts'
import type { Fs } from '../../../src/storage/files/fs.ts'
import type { Answered, CrashWrite } from './crash-write.ts'
import type { CrashServer } from './open-server.ts'
import { openServer } from './open-server.ts'
import type { Random } from '../../../test/support/values/random.ts'
import { randomWrite } from './random-write.ts'

/** Something that must be in the store from a step on. */
export interface Fact {
  readonly since: number
  readonly write: string
  /** Refs of a repository, by its folder: each must be there, at this commit or behind it. */
  readonly refs?: { readonly folder: string; readonly refs: ReadonlyMap<string, string> }
  readonly apiKey?: string
}

/** A removal, or the end of one. Absent `answered` it may have happened or not. */
export interface Removal extends NonNullable<CrashWrite['removal']> {
  readonly began: number
  answered?: number
}

/** What a history did, as far as anybody was told. */
export interface CrashHistory {
  readonly facts: Fact[]
  /** Writes that are everywhere or nowhere. */
  readonly together: NonNullable<CrashWrite['together']>[]
  /** Refs that are all there or none. */
  readonly made: NonNullable<CrashWrite['made']>[]
  /** Repositories that were removed or brought back: when that began, and when it was answered. */
  readonly removals: Removal[]
  /** How many writes were answered. */
  answered: number
}

export interface HistoryOptions {
  readonly random: Random
  /** How many times some writes are sent at once. */
  readonly rounds: number
  /** The step that the disk is at. */
  readonly now: () => number
  /** Has the disk write down everything it holds. */
  readonly flush: () => void
  /** Is told what a write failed with that is no refusal; where it is absent, the history fails. */
  readonly onFailure?: (write: string, error: unknown) => void
}

/**
 * Runs random writes on a disk, a few at a time, with checkpoints of the journal and clean restarts between them or beside them, and
 * notes in `history` what was answered and since which step. Answers the last server.
 */
export async function runCrashHistory(
  fs: Fs,
  history: CrashHistory,
  { random, rounds, now, flush, onFailure }: HistoryOptions,
): Promise<CrashServer> {
  let server = await start()
  let n = 0
  let checkpoint: Promise<unknown> = Promise.resolve()
  for (let round = 0; round < rounds; round++) {
    const writes: Promise<unknown>[] = []
    for (let count = 1 + random.below(4); count > 0; count--) {
      const number = ++n
      const planned = await attempt('to plan a write', () => randomWrite(server, random, number))
      if (planned) writes.push(one(planned))
    }
    await Promise.all(writes)
    if (random.chance(0.35)) checkpoint = server.store.checkpoint()
    if (random.chance(0.5)) await checkpoint
    if (random.chance(0.1)) flush()
    if (random.chance(0.1)) {
      await attempt('to stop', () => server.close())
      server = await start()
    }
  }
  return server

  async function start(): Promise<CrashServer> {
    for (;;) {
      const started = await attempt('to start', () => openServer(fs))
      if (started) return started
    }
  }

  async function one(write: CrashWrite): Promise<void> {
    if (write.together) history.together.push(write.together)
    if (write.made) history.made.push(write.made)
    const removal: Removal | undefined = write.removal && { ...write.removal, began: now() }
    if (removal) history.removals.push(removal)
    await attempt(write.name, async () => {
      noteAnswered(history, write.name, await write.run(server), now())
      if (removal) removal.answered = now()
    })
  }

  /** What it comes to; undefined if it is refused, or if it fails and may. */
  async function attempt<T>(what: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work()
    } catch (error) {
      if (error instanceof Refusal) return undefined
      if (!onFailure) throw error
      onFailure(what, error)
      return undefined
    }
  }
}

/** A history nothing has happened in yet. */
export function newHistory(): CrashHistory {
  return { facts: [], together: [], made: [], removals: [], answered: 0 }
}

/** Writes down what an answered write vouches for from a step on. */
export function noteAnswered(
  history: CrashHistory,
  write: string,
  { artifacts, apiKey }: Answered,
  since: number,
): void {
  history.answered++
  if (apiKey !== undefined) history.facts.push({ since, write, apiKey })
  for (const { repository } of artifacts) {
    const { refs } = repository.refs.snapshot()
    history.facts.push({ since, write, refs: { folder: repository.path, refs } })
  }
}

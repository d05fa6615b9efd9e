import { setImmediate as nextTurn } from 'node:timers/promises'
import { Refusal } from '../../../../src/errors.ts'
import type { OpenLog } from '../../../../src/cluster/following/shared-log.ts'
import type { Fs } from '../../../../src/storage/files/fs.ts'
import { type CrashHistory, noteAnswered, type Removal } from '../crash-history.ts'
import type { CrashWrite } from '../crash-write.ts'
import { type CrashServer, openServer } from '../open-server.ts'
import type { Random } from '../../../../test/support/values/random.ts'
import { randomWrite, SHARED_KINDS } from '../random-write.ts'

export interface SharedHistoryOptions {
  /** Of each server the disk that its folder is on. */
  readonly disks: readonly Fs[]
  readonly openLog: OpenLog
  readonly random: Random
  /** How many times some writes are sent at once. */
  readonly rounds: number
  /** The step that the disks are at. */
  readonly now: () => number
}

/**
 * Runs random writes at servers that share a log, a few at a time at any of them, with looks and clean restarts between them, and notes in
 * `history` what was answered and since which step. Answers the last servers.
 */
export async function runSharedHistory(
  history: CrashHistory,
  { disks, openLog, random, rounds, now }: SharedHistoryOptions,
): Promise<readonly CrashServer[]> {
  const servers = await Promise.all(disks.map((fs) => openServer(fs, openLog)))
  let n = 0
  for (let round = 0; round < rounds; round++) {
    const writes: Promise<unknown>[] = []
    for (let count = 1 + random.below(4); count > 0; count--) {
      const server = random.pick(servers)
      const number = ++n
      // As before every request.
      await server?.store.fresh()
      const planned = server && (await unlessRefused(() => randomWrite(server, random, number, SHARED_KINDS)))
      if (planned) writes.push(one(server, planned))
      for (let turns = random.below(4); turns > 0; turns--) await nextTurn()
    }
    await Promise.all(writes)
    const at = random.below(servers.length)
    if (random.chance(0.3)) await servers[at]?.store.checkpoint()
    const fs = disks[at]
    if (fs && random.chance(0.15)) {
      await servers[at]?.close()
      servers[at] = await openServer(fs, openLog)
    }
  }
  return servers

  async function one(server: CrashServer, write: CrashWrite): Promise<void> {
    if (write.together) history.together.push(write.together)
    if (write.made) history.made.push(write.made)
    const removal: Removal | undefined = write.removal && { ...write.removal, began: now() }
    if (removal) history.removals.push(removal)
    await unlessRefused(async () => {
      noteAnswered(history, write.name, await write.run(server), now())
      if (removal) removal.answered = now()
    })
  }
}

async function unlessRefused<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Refusal) return undefined
    throw error
  }
}

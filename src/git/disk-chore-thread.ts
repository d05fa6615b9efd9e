import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import { setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import type { Fs } from '../storage/fs.ts'
import { nodeFs } from '../storage/node-fs.ts'
import type { AskedChore, ChoreReply, DiskChore } from './disk-chores.ts'
import { checkpointJournal } from './journal/checkpoint.ts'

/**
 * The whole of the thread that `doDiskChore` starts: chores in, in their order, and what became of each out. Journals are settled beside
 * them.
 */
parentPort?.on('message', (asked: AskedChore) => {
  const reply = (outcome: Omit<ChoreReply, 'id'>): void =>
    parentPort?.postMessage({ id: asked.id, ...outcome } satisfies ChoreReply)
  try {
    if ('journal' in asked) {
      const bytes = nodeFs.readFile(asked.journal)
      if (!bytes) throw new Error(`the journal ${asked.journal} is gone`)
      checkpointJournal(ownFs, asked.store, bytes).then(
        () => reply({}),
        (error: unknown) => reply(inWords(error)),
      )
      return
    }
    reply({ each: doChore(asked.chore, asked.paths) })
  } catch (error) {
    reply(inWords(error))
  }
})

/** Behind whoever answers requests, and still sure of a tenth of a core. */
const LOW_PRIORITY = 10

// Files are made, removed and synced many at a time, before or after somebody needs that: a write that is waited for shall not wait for
// all of them. Linux gives a thread a priority of its own; elsewhere this would be the whole process's.
if (process.platform === 'linux') {
  try {
    setPriority(LOW_PRIORITY)
  } catch {
    // A sandbox may forbid it; the chores are done all the same.
  }
}

/** Answers how many milliseconds one path took. The one in the middle: others may have waited for the core. */
function doChore(chore: DiskChore, paths: readonly string[]): number {
  const times = new Float64Array(paths.length)
  for (const [index, path] of paths.entries()) {
    const begun = performance.now()
    STEPS[chore](path)
    times[index] = performance.now() - begun
  }
  return times.sort()[paths.length >> 1] ?? 0
}

const STEPS: Readonly<Record<DiskChore, (path: string) => void>> = {
  createEmpty: (path) => fs.closeSync(fs.openSync(path, 'wx')),
  remove: (path) => orAbsent(() => fs.unlinkSync(path)),
  sync: (path) =>
    orAbsent(() => {
      const fd = fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK)
      try {
        fs.fsyncSync(fd)
      } finally {
        fs.closeSync(fd)
      }
    }),
  // "Top of a hierarchy" is what ext calls a folder whose sub folders have nothing to do with each other (chattr(1)).
  spread: (path) => void execFileSync('chattr', ['+T', path], { stdio: 'ignore', timeout: 5000 }),
}

/** The disk as the thread itself sees it. What a journal tells of waits for the disk beside the chores, which others wait for. */
const ownFs: Fs = {
  ...nodeFs,
  createEmpty: async (paths) => doChore('createEmpty', paths),
  removeAll: async (paths) => void doChore('remove', paths),
  syncAll: async (paths) => {
    for (const path of paths) await nodeFs.sync(path)
  },
}

function orAbsent(step: () => void): void {
  try {
    step()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException // node:fs throws nothing else
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error
  }
}

function inWords(error: unknown): Pick<ChoreReply, 'message' | 'code'> {
  const { message, code } = error as NodeJS.ErrnoException // as above
  return { message, code }
}

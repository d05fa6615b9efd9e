import * as fs from 'node:fs'
import { parentPort } from 'node:worker_threads'
import type { ChoreReply, DiskChore, NumberedChore } from './disk-chores.ts'

/** The whole of the thread that `doDiskChore` starts: chores in, in their order, and what became of each out. */
parentPort?.on('message', ({ id, chore, paths }: NumberedChore) => {
  parentPort?.postMessage({ id, ...outcomeOf(chore, paths) } satisfies ChoreReply)
})

function outcomeOf(chore: DiskChore, paths: readonly string[]): Omit<ChoreReply, 'id'> {
  try {
    for (const path of paths) STEPS[chore](path)
    return {}
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException // node:fs throws nothing else
    return { message, code }
  }
}

const STEPS: Readonly<Record<DiskChore, (path: string) => void>> = {
  createEmpty: (path) => fs.closeSync(fs.openSync(path, 'wx')),
  remove: (path) => orAbsent(() => fs.unlinkSync(path)),
  sync: (path) =>
    orAbsent(() => {
      const fd = fs.openSync(path, 'r')
      try {
        fs.fsyncSync(fd)
      } finally {
        fs.closeSync(fd)
      }
    }),
}

function orAbsent(step: () => void): void {
  try {
    step()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException // as above
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error
  }
}

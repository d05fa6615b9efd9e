import { spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'

/** Before this process is kept to one of them. */
const cores = availableParallelism()

/**
 * Does the work while all threads of this process keep to one core, the last, where the machine has several and `taskset`; other
 * processes may run where they like. Clients on another machine never take a server's core; on the same one an answer wakes its
 * client where it was written, and the two take turns there while another core has nothing to do.
 */
export async function onOwnCore<T>(work: () => Promise<T>): Promise<T> {
  if (cores < 2 || !keepTo(`${cores - 1}`)) return work()
  try {
    return await work()
  } finally {
    keepTo(`0-${cores - 1}`)
  }
}

/** False where there is no such program. */
function keepTo(list: string): boolean {
  return spawnSync('taskset', ['-acp', list, `${process.pid}`]).status === 0
}

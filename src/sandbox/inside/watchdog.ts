import { workerData } from 'node:worker_threads'

/**
 * A thread beside the interpreter, which is deaf while a script runs: kills the process when the server that started it is gone, and
 * when it has taken more memory than the limit and what Node and the interpreter take themselves.
 */

const { parent, memoryBytes } = workerData as { readonly parent: number; readonly memoryBytes: number } // main.ts gave it
const OWN_BYTES = 384 * 1024 ** 2
const LOOK_EVERY_MS = 500

setInterval(() => {
  const isOrphan = process.ppid !== parent
  if (isOrphan || process.memoryUsage.rss() > memoryBytes + OWN_BYTES) process.kill(process.pid, 'SIGKILL')
}, LOOK_EVERY_MS)

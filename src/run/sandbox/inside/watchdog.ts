import { workerData } from 'node:worker_threads'

/**
 * A thread beside the interpreter, which cannot react while a script runs. Kills the process when its server is gone, or when it uses more
 * memory than the limit plus what Node and the interpreter need.
 */

const { parent, memoryBytes } = workerData as { readonly parent: number; readonly memoryBytes: number } // set by main.ts
const OWN_BYTES = 384 * 1024 ** 2
const LOOK_EVERY_MS = 500

setInterval(() => {
  const isOrphan = process.ppid !== parent
  if (isOrphan || process.memoryUsage.rss() > memoryBytes + OWN_BYTES) process.kill(process.pid, 'SIGKILL')
}, LOOK_EVERY_MS)

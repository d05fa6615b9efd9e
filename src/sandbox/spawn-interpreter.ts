import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { interpreterFlags } from './interpreter-flags.ts'

/** Starts the process of an interpreter. All it has is one pipe (file descriptor 3): no environment, no standard streams, no arguments. */
export function spawnInterpreter(memoryBytes: number): ChildProcess {
  return spawn(process.execPath, [...interpreterFlags(MAIN, memoryBytes), MAIN], {
    env: {},
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    windowsHide: true,
  })
}

const MAIN = fileURLToPath(new URL('./inside/main.js', import.meta.url))

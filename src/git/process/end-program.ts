import type { ChildProcess } from 'node:child_process'

/** How long a program may take to end itself, in milliseconds. */
const PATIENCE = 1000

/**
 * Ends a program that was started `detached`, with all that it started in turn: a `git upload-pack` whose `git pack-objects` lived on
 * would leave that at work for minutes. They may clean up; what has not ended a second later is killed.
 */
export function endProgram(child: ChildProcess): void {
  if (!signalGroup(child, 'SIGTERM')) return
  const timer = setTimeout(() => signalGroup(child, 'SIGKILL'), PATIENCE)
  child.once('close', () => clearTimeout(timer))
}

/** False where nothing of its group is left. */
function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): boolean {
  if (pid === undefined) return false
  try {
    return process.kill(-pid, signal)
  } catch {
    return false
  }
}

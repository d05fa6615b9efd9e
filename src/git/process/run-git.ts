import { spawn } from 'node:child_process'
import { setPriority } from 'node:os'
import { Refusal } from '../../errors.ts'
import { endProgram } from './end-program.ts'

/** How the git program ended, and what it said. */
export interface GitResult {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface GitOptions {
  /** Let everything else go first. */
  readonly inBackground?: boolean
  /** Ends the program when it is aborted; the call then answers a code other than 0. */
  readonly signal?: AbortSignal
}

/**
 * Runs the git program on one repository, with nobody's own configuration. Refuses with `storage_unavailable` where there is no
 * git; whatever git itself says no to is in the result.
 */
export function runInRepository(
  gitdir: string,
  args: readonly string[],
  { inBackground = false, signal }: GitOptions = {},
): Promise<GitResult> {
  return new Promise((resolve, reject) => {
    const child = spawn('git', [`--git-dir=${gitdir}`, ...args], {
      env: environment(),
      stdio: ['ignore', 'pipe', 'pipe'],
      // A group of its own, which can be ended as one.
      detached: true,
    })
    // What git starts in turn takes it over.
    if (inBackground && child.pid !== undefined) lowerPriority(child.pid)
    const stop = (): void => endProgram(child)
    if (signal?.aborted) stop()
    else signal?.addEventListener('abort', stop, { once: true })
    const stdout: Buffer[] = []
    const stderr: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk))
    child.on('error', (error) => {
      reject(
        new Refusal('storage_unavailable', `The git program cannot be run: ${error.message}. Install git.`),
      )
    })
    child.on('close', (code) => {
      signal?.removeEventListener('abort', stop)
      resolve({ code: code ?? 1, stdout: textOf(stdout), stderr: textOf(stderr) })
    })
  })
}

/** Of all priorities the lowest (nice(1)). */
const LOWEST = 19

function lowerPriority(pid: number): void {
  try {
    setPriority(pid, LOWEST)
  } catch {
    // It has ended already, or the system has no priorities.
  }
}

/** Ours without what could make git look elsewhere, and in the words that we look for. */
function environment(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_'))
  return {
    ...Object.fromEntries(own),
    LC_ALL: 'C',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_NO_REPLACE_OBJECTS: '1',
  }
}

function textOf(chunks: readonly Buffer[]): string {
  return Buffer.concat(chunks).toString('utf8')
}

import type { ChildProcess, ChildProcessWithoutNullStreams } from 'node:child_process'
import { spawn } from 'node:child_process'
import { setPriority } from 'node:os'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Refusal } from '../../errors.ts'
import type { GitConfig } from './git-environment.ts'
import { gitEnvironment } from './git-environment.ts'

/** A git program to run. */
export interface GitCall {
  readonly args: readonly string[]
  /** Its complete environment; see gitEnvironment. */
  readonly env: NodeJS.ProcessEnv
  /** Its standard input; none if absent. It may leave some of it unread. */
  readonly input?: AsyncIterable<Buffer> | Iterable<string> | undefined
  /** Kills the program. */
  readonly signal?: AbortSignal | undefined
  /** Gives the program the lowest priority. */
  readonly inBackground?: boolean | undefined
  /** The number of characters of its error output that are kept; 4096 unless given. */
  readonly maxComplaint?: number | undefined
}

/** A running git program. */
export interface GitChild {
  readonly output: Readable
  /**
   * Resolves once it has ended and its output was read: the exit code (null if it was killed) and its standard error. Rejects if its input
   * fails or the signal aborts, and with the refusal `storage_unavailable` if there is no git.
   */
  readonly ended: Promise<{ readonly code: number | null; readonly complaint: string }>
}

/**
 * Starts git. It and the programs that it starts are ended when its input fails, when the signal aborts, or when its output is destroyed.
 * Then `ended` settles even if the output is not read.
 */
export function startGit({ args, env, input, signal, inBackground, maxComplaint }: GitCall): GitChild {
  // A separate process group, which can be ended as a whole.
  const child = spawn('git', args, { env, stdio: ['pipe', 'pipe', 'pipe'], detached: true })
  // Programs that git starts inherit the priority.
  if (inBackground && child.pid !== undefined) lowerPriority(child.pid)
  child.stdout.once('close', () => {
    if (!child.stdout.readableEnded) endProgram(child)
  })
  const ended = waitFor(child, feed(child, input), signal, maxComplaint)
  ended.catch(() => undefined) // a caller that only reads the output learns of the failure there
  return { output: child.stdout, ended }
}

/** The end of a git program, and its output. */
export interface GitResult {
  /** Null if it was killed. */
  readonly code: number | null
  /** Its standard error. */
  readonly complaint: string
  readonly output: string
}

/** Runs git to its end and answers its output, which should be small. */
export async function runGit(call: GitCall): Promise<GitResult> {
  const { output, ended } = startGit(call)
  const pieces: Buffer[] = []
  output.on('data', (piece: Buffer) => pieces.push(piece))
  return { ...(await ended), output: Buffer.concat(pieces).toString('utf8') }
}

/** Resolves when git has read the input or needs no more of it; rejects when the input itself fails. */
async function feed({ stdin }: ChildProcessWithoutNullStreams, input: GitCall['input']): Promise<void> {
  try {
    await pipeline(input ?? [], stdin)
  } catch (error) {
    if (!isClosed(error)) throw error
  }
}

function waitFor(
  child: ChildProcessWithoutNullStreams,
  fed: Promise<void>,
  signal: AbortSignal | undefined,
  maxComplaint = 4096,
): GitChild['ended'] {
  let complaint = ''
  child.stderr.on('data', (piece: Buffer) => {
    complaint = (complaint + piece.toString('utf8')).slice(0, maxComplaint)
  })
  return new Promise((resolve, reject) => {
    let failure: { readonly error: unknown } | undefined
    const fail = (error: unknown): void => {
      // The signal's reason says more than "killed".
      failure ??= { error: signal?.aborted ? signal.reason : error }
      endProgram(child)
      // The stream closes only after all output was read, so unread output is dropped.
      child.stdout.resume()
      if (child.pid === undefined) reject(error)
    }
    const leave = (): void => fail(signal?.reason)
    if (signal?.aborted) leave()
    else signal?.addEventListener('abort', leave, { once: true })
    fed.catch(fail)
    child.once('error', (error) => fail(notRun(error)))
    // Only now, no part of it can still write.
    child.once('close', (code) => {
      signal?.removeEventListener('abort', leave)
      const end = (): void =>
        failure ? reject(failure.error) : resolve({ code, complaint: complaint.trim() })
      fed.then(end, end)
    })
  })
}

/** The error of starting a program; a refusal if there is no git program. */
function notRun(error: NodeJS.ErrnoException): Error {
  const { code, message } = error
  if (code !== 'ENOENT' && code !== 'EACCES') return error
  return new Refusal('storage_unavailable', `The git program cannot be run: ${message}. Install git.`)
}

/** The oldest git whose options and variables are used here. */
const NEEDED_VERSION = [2, 38] as const

/** What the git program on the PATH cannot be used for, in a sentence; undefined if it is there and new enough. */
export async function gitProblem(): Promise<string | undefined> {
  const needed = NEEDED_VERSION.join('.')
  const said = await runGit({ args: ['--version'], env: gitEnvironment() }).catch(() => undefined)
  const [, version, major, minor] = /^git version ((\d+)\.(\d+)\S*)/.exec(said?.output ?? '') ?? []
  if (version === undefined)
    return (
      `There is no git program on the PATH that runs: clone, fetch, push, bundles and the upkeep of repositories do not work, and everything else does. ` +
      `Install git ${needed} or newer.`
    )
  const [neededMajor, neededMinor] = NEEDED_VERSION
  if (Number(major) > neededMajor || (Number(major) === neededMajor && Number(minor) >= neededMinor))
    return undefined
  return (
    `The git program on the PATH is ${version}, and git ${needed} or newer is needed: with this one clone, fetch, push, bundles and the upkeep of ` +
    `repositories may fail. Everything else works.`
  )
}

/** git closed its input, having read enough. */
function isClosed(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException // streams throw no other type
  return code === 'EPIPE' || code === 'ERR_STREAM_PREMATURE_CLOSE' || code === 'ECONNRESET'
}

/** The git program failed; the message is its last line. */
export class GitFailure extends Error {
  override readonly name = 'GitFailure'
  readonly exitCode: number | null

  constructor(message: string, exitCode: number | null) {
    super(message)
    this.exitCode = exitCode
  }
}

export interface GitCommand {
  readonly gitdir: string
  /** Its standard input. */
  readonly input?: string
  /** Settings for this run, which lists of processes do not show. */
  readonly config?: GitConfig
  /** Once aborted, git is stopped and the promise rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

/** Runs the git program in a repository. Rejects with a GitFailure unless it ends with exit code 0. */
export async function gitCommand(
  args: readonly string[],
  { gitdir, input, config, signal }: GitCommand,
): Promise<void> {
  const { code, complaint } = await runGit({
    args: [`--git-dir=${gitdir}`, ...args],
    env: gitEnvironment(config),
    input: input === undefined ? undefined : [input],
    signal,
  }).catch((error: unknown) => {
    throw error instanceof Refusal ? new GitFailure('There is no git program on the PATH.', null) : error
  })
  if (code !== 0) throw new GitFailure(lastWord(complaint) || `git ended with ${code}`, code)
}

function lastWord(complaint: string): string {
  const lines = complaint.split('\n').filter((line) => line.trim() !== '')
  const last = lines.findLast((line) => /^(?:fatal|error):/.test(line)) ?? lines.at(-1) ?? ''
  return last.replace(/^(?:fatal|error): /, '')
}

/**
 * Runs git on one repository and answers how it ended. If it was aborted, its code is null. Refuses with `storage_unavailable` if there is
 * no git.
 */
export async function gitOn(
  gitdir: string,
  args: readonly string[],
  options: Pick<GitCall, 'signal' | 'inBackground' | 'maxComplaint'> = {},
): Promise<GitResult> {
  try {
    return await runGit({ args: [`--git-dir=${gitdir}`, ...args], env: gitEnvironment(), ...options })
  } catch (error) {
    if (options.signal?.aborted) return { code: null, complaint: '', output: '' }
    throw error
  }
}

/** The lowest of all priorities (nice(1)). */
const LOWEST = 19

function lowerPriority(pid: number): void {
  try {
    setPriority(pid, LOWEST)
  } catch {
    // It has already ended, or the system has no priorities.
  }
}

/** Milliseconds in which a program may end by itself. */
const PATIENCE = 1000

/**
 * Ends a program that was started `detached`, and all programs that it started: a `git pack-objects` that survives its `git upload-pack`
 * would work on for minutes. They may clean up; after a second they are killed.
 */
export function endProgram(child: ChildProcess): void {
  if (!signalGroup(child, 'SIGTERM')) return
  const timer = setTimeout(() => signalGroup(child, 'SIGKILL'), PATIENCE)
  child.once('close', () => clearTimeout(timer))
}

/** False if no process of its group is left. */
function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): boolean {
  if (pid === undefined) return false
  try {
    return process.kill(-pid, signal)
  } catch {
    return false
  }
}

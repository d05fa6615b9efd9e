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
  /** All of its environment; see gitEnvironment. */
  readonly env: NodeJS.ProcessEnv
  /** What it reads; nothing if absent. It need not read all of it. */
  readonly input?: AsyncIterable<Buffer> | Iterable<string> | undefined
  /** Kills it. */
  readonly signal?: AbortSignal | undefined
  /** Lets everything else go first. */
  readonly inBackground?: boolean | undefined
  /** How many characters of what it complains of are kept; 4096 unless said. */
  readonly maxComplaint?: number | undefined
}

/** A git program that runs. */
export interface GitChild {
  readonly output: Readable
  /**
   * How it ended, once it has ended and its output was read: the exit code (null if it was killed) and what it said on
   * standard error. Rejects when its input broke off or the signal came, and with the refusal `storage_unavailable` where there is no git.
   */
  readonly ended: Promise<{ readonly code: number | null; readonly complaint: string }>
}

/**
 * Starts git. It is ended, with what it started in turn, when its input fails, when the signal says so, and when its output is destroyed;
 * then `ended` settles whether or not anybody reads the output.
 */
export function startGit({ args, env, input, signal, inBackground, maxComplaint }: GitCall): GitChild {
  // A group of its own, which can be ended as one.
  const child = spawn('git', args, { env, stdio: ['pipe', 'pipe', 'pipe'], detached: true })
  // What git starts in turn takes it over.
  if (inBackground && child.pid !== undefined) lowerPriority(child.pid)
  child.stdout.once('close', () => {
    if (!child.stdout.readableEnded) endProgram(child)
  })
  const ended = waitFor(child, feed(child, input), signal, maxComplaint)
  ended.catch(() => undefined) // who only reads the output learns of it there
  return { output: child.stdout, ended }
}

/** How git ended, and what it wrote. */
export interface GitResult {
  /** Null if it was killed. */
  readonly code: number | null
  /** What it said on standard error. */
  readonly complaint: string
  readonly output: string
}

/** Runs git to its end and answers what it wrote, which should be little. */
export async function runGit(call: GitCall): Promise<GitResult> {
  const { output, ended } = startGit(call)
  const pieces: Buffer[] = []
  output.on('data', (piece: Buffer) => pieces.push(piece))
  return { ...(await ended), output: Buffer.concat(pieces).toString('utf8') }
}

/** Resolves when the input was read, or git has no use for more of it; rejects when the input itself fails. */
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
      // The reason says more than that it was killed.
      failure ??= { error: signal?.aborted ? signal.reason : error }
      endProgram(child)
      // Nobody may be reading any more, and it is not closed before all is read.
      child.stdout.resume()
      if (child.pid === undefined) reject(error)
    }
    const leave = (): void => fail(signal?.reason)
    if (signal?.aborted) leave()
    else signal?.addEventListener('abort', leave, { once: true })
    fed.catch(fail)
    child.once('error', (error) => fail(notRun(error)))
    // Only now nothing of it is left that could still write.
    child.once('close', (code) => {
      signal?.removeEventListener('abort', leave)
      const end = (): void =>
        failure ? reject(failure.error) : resolve({ code, complaint: complaint.trim() })
      fed.then(end, end)
    })
  })
}

/** What starting a program failed with, as a refusal where there is no git program to start. */
function notRun(error: NodeJS.ErrnoException): Error {
  const { code, message } = error
  if (code !== 'ENOENT' && code !== 'EACCES') return error
  return new Refusal('storage_unavailable', `The git program cannot be run: ${message}. Install git.`)
}

/** git closed its end, having read what it wanted. */
function isClosed(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException // streams fail with nothing else
  return code === 'EPIPE' || code === 'ERR_STREAM_PREMATURE_CLOSE' || code === 'ECONNRESET'
}

/** The git program said no; the message is its own last word. */
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
  /** Goes to its standard input. */
  readonly input?: string
  /** Settings for this run, which no list of processes shows. */
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
 * Runs git on one repository and answers how it ended, also where it was aborted: its code is null then. Refuses with
 * `storage_unavailable` where there is no git.
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

/** Of all priorities the lowest (nice(1)). */
const LOWEST = 19

function lowerPriority(pid: number): void {
  try {
    setPriority(pid, LOWEST)
  } catch {
    // It has ended already, or the system has no priorities.
  }
}

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

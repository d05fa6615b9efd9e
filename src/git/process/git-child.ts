import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { endProgram } from './end-program.ts'

/** How much of what git complains of is kept. */
const LONGEST_COMPLAINT = 4096

/** A git program to run. */
export interface GitCall {
  readonly args: readonly string[]
  /** All of its environment; see gitEnvironment. */
  readonly env: NodeJS.ProcessEnv
  /** What it reads; nothing if absent. It need not read all of it. */
  readonly input?: AsyncIterable<Buffer> | Iterable<string> | undefined
  /** Kills it. */
  readonly signal?: AbortSignal | undefined
}

/** A git program that runs. */
export interface GitChild {
  readonly output: Readable
  /**
   * How it ended, once it has ended and its output was read: the exit code (null if it was killed) and what it said on
   * standard error. Rejects when it could not be started, its input broke off, or the signal came.
   */
  readonly ended: Promise<{ readonly code: number | null; readonly complaint: string }>
}

/**
 * Starts git. It is ended, with what it started in turn, when its input fails, when the signal says so, and when its output is destroyed;
 * then `ended` settles whether or not anybody reads the output.
 */
export function startGit({ args, env, input, signal }: GitCall): GitChild {
  // A group of its own, which can be ended as one.
  const child = spawn('git', args, { env, stdio: ['pipe', 'pipe', 'pipe'], detached: true })
  child.stdout.once('close', () => {
    if (!child.stdout.readableEnded) endProgram(child)
  })
  const ended = waitFor(child, feed(child, input), signal)
  ended.catch(() => undefined) // who only reads the output learns of it there
  return { output: child.stdout, ended }
}

/** Runs git to its end and answers what it wrote, which should be little. */
export async function runGit(
  call: GitCall,
): Promise<{ readonly code: number | null; readonly complaint: string; readonly output: string }> {
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
): GitChild['ended'] {
  let complaint = ''
  child.stderr.on('data', (piece: Buffer) => {
    complaint = (complaint + piece.toString('utf8')).slice(0, LONGEST_COMPLAINT)
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
    child.once('error', fail)
    // Only now nothing of it is left that could still write.
    child.once('close', (code) => {
      signal?.removeEventListener('abort', leave)
      const end = (): void =>
        failure ? reject(failure.error) : resolve({ code, complaint: complaint.trim() })
      fed.then(end, end)
    })
  })
}

/** git closed its end, having read what it wanted. */
function isClosed(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException // streams fail with nothing else
  return code === 'EPIPE' || code === 'ERR_STREAM_PREMATURE_CLOSE' || code === 'ECONNRESET'
}

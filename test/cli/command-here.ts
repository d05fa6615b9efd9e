import { runCommandLine } from '../../src/cli/run-command-line.ts'

/** What a command said, and the code that its process would have ended with. */
export interface Said {
  readonly stdout: string
  readonly stderr: string
  readonly code: number
}

let last: Promise<unknown> = Promise.resolve()

/**
 * Runs `branchpoint` in this process, where the process is not the point: to start one takes longer than most commands. The command has
 * this environment and this folder and nothing else of ours. One runs at a time, since both are the whole process's.
 */
export function runHere(
  args: readonly string[],
  around: { readonly env: NodeJS.ProcessEnv; readonly cwd: string },
): Promise<Said> {
  const done = last.then(() => runAlone(args, around))
  last = done.catch(() => undefined)
  return done
}

async function runAlone(
  args: readonly string[],
  { env, cwd }: { readonly env: NodeJS.ProcessEnv; readonly cwd: string },
): Promise<Said> {
  const before = { env: process.env, cwd: process.cwd(), exitCode: process.exitCode }
  const streams = { stdout: process.stdout, stderr: process.stderr }
  const writes = { stdout: process.stdout.write, stderr: process.stderr.write }
  const said = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    streams[name].write = (piece: string | Uint8Array) => {
      said[name] += String(piece)
      return true
    }
  const forget = listenersSince('SIGINT', 'SIGTERM')
  process.env = { ...env }
  process.chdir(cwd)
  process.exitCode = undefined
  try {
    await runCommandLine(args)
    return { ...said, code: Number(process.exitCode ?? 0) }
  } finally {
    for (const name of ['stdout', 'stderr'] as const) streams[name].write = writes[name]
    process.env = before.env
    process.chdir(before.cwd)
    process.exitCode = before.exitCode
    forget()
  }
}

/** Answers what removes the listeners of these signals that are added from now on: a command's process would have ended. */
function listenersSince(...signals: readonly NodeJS.Signals[]): () => void {
  const known = new Map(signals.map((signal) => [signal, process.listeners(signal)]))
  return () => {
    for (const [signal, listeners] of known)
      for (const listener of process.listeners(signal))
        if (!listeners.includes(listener)) process.off(signal, listener)
  }
}

import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { constants } from 'node:os'
import { resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { UsageError } from '../../../src/cli/command/usage-error.ts'

/** A server in a process of its own. */
export interface ChildServer {
  readonly url: string
  /** Milliseconds from the start of the process until it was ready to serve. */
  readonly startedIn: number
  readonly pid: number
  /** The lines of its log that tell of a failure, so far. */
  readonly errors: readonly string[]
  /** Resident memory now, in bytes. */
  resident(): number
  /** How many file descriptors are open now. */
  descriptors(): number
  stop(): Promise<void>
  /** Ends the process as a power cut would: at once, whatever it is doing. */
  kill(): Promise<void>
}

/** The key with which the benchmarks call the service. */
export const KEY = 'bench-key'

let entry = fileURLToPath(new URL('../../../src/main.js', import.meta.url))

/**
 * From now on the servers are those of another checkout, which is built: so one harness measures an old tree and a new one. Throws a
 * UsageError where there is none.
 */
export function measureTree(tree: string, usage: string): void {
  const its = resolve(tree, 'dist', 'src', 'main.js')
  if (!existsSync(its))
    throw new UsageError(`--tree is "${tree}", which has no dist/src/main.js; build it first.`, usage)
  entry = its
}

/** Starts the service over `storeDir`; ready when /ready says so. */
export async function startBranchpoint(
  storeDir: string,
  env: Readonly<Record<string, string>> = {},
): Promise<ChildServer> {
  return (await spawnBranchpoint(storeDir, env)).server
}

/** The same with options for node, and with its process: given any, that has a channel to this one. */
export function spawnBranchpoint(
  storeDir: string,
  env: Readonly<Record<string, string>>,
  options: readonly string[] = [],
): Promise<{ readonly server: ChildServer; readonly child: ChildProcess }> {
  const all = { PORT: '0', STORE_DIR: storeDir, SVC_API_KEY: KEY, ...env }
  return spawned(entry, all, (text) => /"url":"([^"]+)"/.exec(text)?.[1], options)
}

/** The same once `/ready` says yes, and after how many milliseconds that was. */
export async function startReady(
  storeDir: string,
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly service: ChildServer; readonly ready: number }> {
  const started = performance.now()
  const service = await startBranchpoint(storeDir, env)
  while (!(await fetch(`${service.url}/ready`)).ok) await wait(5)
  return { service, ready: performance.now() - started }
}

/** Starts another program that serves; `urlIn` finds in what it has printed where. */
export async function startChild(
  program: string,
  env: Readonly<Record<string, string>>,
  urlIn: (text: string) => string | undefined,
): Promise<ChildServer> {
  return (await spawned(program, env, urlIn)).server
}

/** Ends at once whatever servers are still running, as after a measurement that failed. */
export async function endServers(): Promise<void> {
  await Promise.all([...running].map((child) => end(child, 'SIGKILL')))
}

const running = new Set<ChildProcess>()

/** The child has a channel to this process if node is given `options`. */
async function spawned(
  entry: string,
  env: Readonly<Record<string, string>>,
  urlIn: (text: string) => string | undefined,
  options: readonly string[] = [],
): Promise<{ readonly server: ChildServer; readonly child: ChildProcess }> {
  const started = performance.now()
  const child = spawn(process.execPath, [...options, entry], {
    env: { ...process.env, ...env },
    stdio: options.length === 0 ? ['ignore', 'pipe', 'inherit'] : ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  const { stdout } = child
  if (!stdout) throw new Error(`${entry} was started without its output`) // it is a pipe, as asked for
  // What ends this process leaves no server behind.
  exitOnSignals()
  const reap = (): boolean => child.kill('SIGKILL')
  process.once('exit', reap)
  running.add(child)
  child.once('exit', () => {
    process.off('exit', reap)
    running.delete(child)
  })
  const errors: string[] = []
  const keepErrors = (chunk: Buffer): void => {
    // A line that two chunks share is lost, which is rare; one that is kept says why a request failed.
    for (const line of chunk.toString().split('\n')) if (/^\{"level":(?:50|60)/.test(line)) errors.push(line)
  }
  const url = await new Promise<string>((resolve, reject) => {
    let text = ''
    const listen = (chunk: Buffer): void => {
      text += chunk.toString()
      const found = urlIn(text)
      if (found === undefined) return
      stdout.off('data', listen).on('data', keepErrors)
      resolve(found)
    }
    stdout.on('data', listen)
    child.on('exit', (code) => reject(new Error(`${entry} ended with ${code} before it listened: ${text}`)))
  })
  // it has said that it listens
  const pid = child.pid as number
  const server: ChildServer = {
    url,
    startedIn: performance.now() - started,
    pid,
    errors,
    resident: () => residentOf(pid),
    descriptors: () => readdirSync(`/proc/${pid}/fd`).length,
    stop: () => end(child, 'SIGTERM'),
    kill: () => end(child, 'SIGKILL'),
  }
  return { server, child }
}

/** A signal by itself would end this process without a word to what it started. */
function exitOnSignals(): void {
  if (isListening) return
  isListening = true
  for (const signal of ['SIGHUP', 'SIGTERM'] as const) {
    process.once(signal, () => process.exit(128 + constants.signals[signal]))
  }
}

let isListening = false

function residentOf(pid: number): number {
  const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kilobytes) * 1024
}

function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve()
    child.once('exit', () => resolve())
    child.kill(signal)
  })
}

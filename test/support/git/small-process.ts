import { type ChildProcess, execFileSync, fork, spawn } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readFrame, writeFrame } from './frames.ts'

/** A program to run. */
export interface ProgramCall {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  /** What it reads; nothing if absent. */
  readonly input?: string | Buffer | undefined
}

/** How a program ended. */
export interface ProgramEnd {
  /** Null if it was killed, or could not be started. */
  readonly status: number | null
  readonly output: Buffer
  readonly complaint: Buffer
  /** Why it could not be started. */
  readonly error: { readonly code: string; readonly message: string } | undefined
}

/** The two pipes to the small process. */
interface Channel {
  readonly calls: number
  readonly ends: number
}

const STARTER = fileURLToPath(new URL('program-starter.js', import.meta.url))

let channel: Channel | undefined

/**
 * Runs a program while this process stands still. A small process starts it, which lives as long as this one: Linux copies the map of a process
 * with each program that it starts, and one of hundreds of megabytes, as a process that runs tests becomes, takes longer for that than git does for
 * its work.
 */
export function runInSmallProcess(call: ProgramCall): ProgramEnd {
  const { calls, ends } = (channel ??= openChannel())
  try {
    writeFrame(calls, sendable(call))
    const end = readFrame(ends)
    if (end !== undefined) return end as ProgramEnd // written by program-starter.ts
    throw new Error('The process that starts programs has ended.')
  } catch (error) {
    for (const pipe of [calls, ends]) closeSync(pipe)
    channel = undefined
    throw error
  }
}

function openChannel(): Channel {
  const folder = mkdtempSync(join(tmpdir(), 'program-starter-'))
  const [calls, ends] = [join(folder, 'calls'), join(folder, 'ends')]
  execFileSync('mkfifo', [calls, ends])
  spawn(process.execPath, [STARTER, calls, ends], { stdio: ['ignore', 'ignore', 'inherit'] }).unref()
  // Each waits until the other side has opened it.
  const opened = { calls: openSync(calls, 'w'), ends: openSync(ends, 'r') }
  rmSync(folder, { recursive: true })
  return opened
}

/** What goes over the wire between this process and one that starts programs while this one goes on. */
export interface NumberedCall {
  readonly number: number
  readonly call: ProgramCall
}

export interface NumberedEnd {
  readonly number: number
  readonly end: ProgramEnd
}

interface Waiting {
  resolve(end: ProgramEnd): void
  reject(error: Error): void
}

let helper: ChildProcess | undefined
let calls = 0
const waiting = new Map<number, Waiting>()

/** The same while this process goes on, as where the program talks to a server that is part of it. Any number run at once. */
export function runBesides(call: ProgramCall): Promise<ProgramEnd> {
  helper ??= startHelper()
  const number = ++calls
  return new Promise((resolve, reject) => {
    waiting.set(number, { resolve, reject })
    helper?.send({ number, call: sendable(call) } satisfies NumberedCall)
  })
}

function startHelper(): ChildProcess {
  const child = fork(STARTER, {
    serialization: 'advanced',
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  child.on('message', (message) => {
    const { number, end } = message as NumberedEnd // sent by program-starter.ts
    waiting.get(number)?.resolve(end)
    waiting.delete(number)
  })
  child.once('exit', () => {
    helper = undefined
    for (const { reject } of waiting.values())
      reject(new Error('The process that starts programs has ended.'))
    waiting.clear()
  })
  // Who waits for an answer has something else that keeps this process.
  child.unref()
  child.channel?.unref()
  return child
}

/** `process.env` is an object of a kind of its own, which cannot be sent. */
function sendable(call: ProgramCall): ProgramCall {
  return { ...call, env: { ...call.env } }
}

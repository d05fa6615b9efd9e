import { type ChildProcess, spawn } from 'node:child_process'
import type { Duplex } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { type BoundScript, type InterpreterStart, type MessageTag, MESSAGE_TAGS } from './inside/messages.ts'
import type { SandboxLimits } from './sandbox-limits.ts'
import { SandboxFailure } from './sandbox.ts'
import { createRequire } from 'node:module'
import { dirname, join, sep } from 'node:path'

const MAX_START_MS = 60_000
/** The maximum size of a snapshot, the memory of a fresh interpreter. */
const MAX_SNAPSHOT_BYTES = 128 * 1024 ** 2
/** The maximum size of a failure message. */
const MAX_FAILURE_BYTES = 256 * 1024

/**
 * The server's side of an interpreter in a separate process, for one call at a time. Its messages are validated, because a script may have
 * taken control of it.
 */
export class Interpreter {
  readonly runtime: InterpreterStart['runtime']
  /** Resolves when it accepts calls, with its memory if that was requested. */
  readonly started: Promise<Buffer | undefined>
  /** Whether it will accept no more calls. */
  isOver = false
  /** Resolves when the process has ended. */
  readonly ended: Promise<void>
  readonly #limits: SandboxLimits
  readonly #child: ChildProcess
  readonly #pipe: Duplex
  readonly #reader = new MessageReader(MAX_SNAPSHOT_BYTES)
  #waiting: Waiting | undefined

  constructor(runtime: InterpreterStart['runtime'], limits: SandboxLimits, snapshot: Snapshot) {
    this.runtime = runtime
    this.#limits = limits
    this.#child = spawnInterpreter(limits.memoryBytes)
    this.#pipe = this.#child.stdio[3] as Duplex // spawned with a pipe there
    this.#pipe.on('data', (piece: Buffer) => this.#hear(piece))
    this.#pipe.on('error', () => this.end())
    this.ended = new Promise((resolve) => {
      const over = (): void => {
        this.#over()
        resolve()
      }
      this.#child.on('error', over)
      this.#child.on('exit', over)
    })
    this.started = this.#start(snapshot)
    this.started.catch(() => undefined) // callers see the rejection
  }

  /** Binds the interpreter to a script permanently. */
  bind(script: BoundScript): void {
    this.#send(MESSAGE_TAGS.bind, Buffer.from(JSON.stringify(script)))
  }

  /**
   * Calls the script with arguments (a JSON array as text); answers its result as text, undefined for nothing. Throws a `SandboxFailure`.
   * When the signal is aborted, the script gets a moment to end, then the process is killed.
   */
  async call(args: string, signal: AbortSignal): Promise<string | undefined> {
    const { timeoutMs } = this.#limits
    const seconds = timeoutMs / 1000
    const late = new SandboxFailure('timeout', `The script took longer than ${seconds} s and was stopped.`)
    const hurry = (): void => this.#expectWithin(GRACE_MS, late)
    const answer = this.#answer(timeoutMs, late, outOfMemory())
    this.#send(MESSAGE_TAGS.call, Buffer.from(args))
    signal.addEventListener('abort', hurry, { once: true })
    if (signal.aborted) hurry()
    try {
      return this.#read(await answer)
    } finally {
      signal.removeEventListener('abort', hurry)
    }
  }

  end(): void {
    this.#over()
    this.#child.kill('SIGKILL')
  }

  async #start(snapshot: Snapshot): Promise<Buffer | undefined> {
    const failure = new SandboxFailure('overloaded', 'The interpreter did not start; try again later.')
    const answer = this.#answer(MAX_START_MS, failure, failure)
    const start: InterpreterStart = {
      runtime: this.runtime,
      memoryBytes: this.#limits.memoryBytes,
      resultBytes: this.#limits.resultBytes,
      parent: process.pid,
      snapshot: Buffer.isBuffer(snapshot) ? 'given' : snapshot,
    }
    this.#send(MESSAGE_TAGS.start, Buffer.from(JSON.stringify(start)))
    if (Buffer.isBuffer(snapshot)) this.#send(MESSAGE_TAGS.snapshot, snapshot)
    const { body } = await answer
    this.#reader.limit = this.#limits.resultBytes + MAX_FAILURE_BYTES
    return body.length > 0 ? body : undefined
  }

  #read({ letter, body }: Message): string | undefined {
    if (letter === MESSAGE_TAGS.value && body.length <= this.#limits.resultBytes) return body.toString()
    if (letter === MESSAGE_TAGS.nothing) return undefined
    if (letter === MESSAGE_TAGS.failure || letter === MESSAGE_TAGS.lastFailure) {
      const failure = readFailure(body.toString())
      // little memory is left, so the interpreter is not reused
      if (letter === MESSAGE_TAGS.lastFailure || failure.kind === 'memory') this.end()
      throw failure
    }
    this.end()
    throw new SandboxFailure('output', `The script returned more than ${this.#limits.resultBytes} bytes.`)
  }

  /** The next message. While one is awaited, the interpreter keeps the server's process alive. */
  #answer(milliseconds: number, late: SandboxFailure, gone: SandboxFailure): Promise<Message> {
    if (this.isOver) return Promise.reject(gone)
    return new Promise<Message>((resolve, reject) => {
      this.#waiting = { resolve, reject, gone, timer: undefined }
      this.#expectWithin(milliseconds, late)
      this.#child.ref()
      ;(this.#pipe as Partial<Referable>).ref?.()
    })
  }

  #expectWithin(milliseconds: number, late: SandboxFailure): void {
    const waiting = this.#waiting
    if (!waiting) return
    clearTimeout(waiting.timer)
    waiting.timer = setTimeout(() => {
      this.#over(late)
      this.end()
    }, milliseconds)
  }

  #hear(piece: Buffer): void {
    const messages = this.isOver ? [] : this.#reader.read(piece)
    if (!messages) {
      this.#over(
        new SandboxFailure('output', `The script returned more than ${this.#limits.resultBytes} bytes.`),
      )
      this.end()
      return
    }
    for (const message of messages) {
      const waiting = this.#rest()
      if (!waiting) return this.end() // unexpected message
      waiting.resolve(message)
    }
  }

  #over(reason?: SandboxFailure): void {
    if (this.isOver) return
    this.isOver = true
    const waiting = this.#rest()
    waiting?.reject(reason ?? waiting.gone)
  }

  /** Stops waiting. */
  #rest(): Waiting | undefined {
    const waiting = this.#waiting
    this.#waiting = undefined
    clearTimeout(waiting?.timer)
    this.#child.unref()
    ;(this.#pipe as Partial<Referable>).unref?.()
    return waiting
  }

  #send(letter: MessageTag, body: Buffer): void {
    if (this.isOver) return
    const head = Buffer.alloc(5)
    head.writeUInt32BE(body.length + 1)
    head.write(letter, 4)
    if (body.length < 65_536) this.#pipe.write(Buffer.concat([head, body]))
    else {
      this.#pipe.write(head)
      this.#pipe.write(body)
    }
  }
}

/** A snapshot to start from; `wanted` to make one. */
export type Snapshot = Buffer | 'wanted' | 'none'

/** How long a script may still run after its call was aborted. */
const GRACE_MS = 250

/** Only a memory limit ends a process during a call. */
function outOfMemory(): SandboxFailure {
  return new SandboxFailure('memory', 'The script took more memory than scripts have, and was stopped.')
}

interface Waiting {
  readonly resolve: (message: Message) => void
  readonly reject: (reason: SandboxFailure) => void
  /** The failure if the process ends. */
  readonly gone: SandboxFailure
  timer: NodeJS.Timeout | undefined
}

/** A pipe that is a socket, as with child processes. */
interface Referable {
  ref(): void
  unref(): void
}

const reported = z.object({
  kind: z.enum(['syntax', 'entry', 'exception', 'result', 'memory', 'output']),
  message: z.string(),
  stacktrace: z.array(z.string()).optional(),
})

function readFailure(text: string): SandboxFailure {
  const read = reported.safeParse(parsed(text))
  if (!read.success) return new SandboxFailure('exception', 'The script ended or broke its interpreter.')
  return new SandboxFailure(read.data.kind, read.data.message, read.data.stacktrace)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Starts an interpreter's process. It gets only one pipe (file descriptor 3): no environment, no standard streams, no arguments. */
export function spawnInterpreter(memoryBytes: number): ChildProcess {
  return spawn(process.execPath, [...interpreterFlags(MAIN, memoryBytes), MAIN], {
    env: {},
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    windowsHide: true,
  })
}

const MAIN = fileURLToPath(new URL('./inside/main.js', import.meta.url))

/** A message of an interpreter, see `inside/messages.ts`. */
interface Message {
  readonly letter: string
  readonly body: Buffer
}

/** Splits the data of a pipe into messages. Checks only their length. */
export class MessageReader {
  /** The maximum length of a message, in bytes. */
  limit: number
  #pieces: Buffer[] = []
  #length = 0

  constructor(limit: number) {
    this.limit = limit
  }

  /** The messages that end in this piece; undefined if one is too long, and then reading cannot continue. */
  read(piece: Buffer): readonly Message[] | undefined {
    this.#pieces.push(piece)
    this.#length += piece.length
    const messages: Message[] = []
    while (this.#length >= LENGTH_BYTES) {
      const first = this.#joined(LENGTH_BYTES)
      const length = first.readUInt32BE()
      if (length < 1 || length > this.limit) return undefined
      if (this.#length < LENGTH_BYTES + length) break
      const all = this.#joined(this.#length)
      const end = LENGTH_BYTES + length
      messages.push({
        letter: String.fromCharCode(all[LENGTH_BYTES] ?? 0),
        body: all.subarray(LENGTH_BYTES + 1, end),
      })
      this.#pieces = [all.subarray(end)]
      this.#length -= end
    }
    return messages
  }

  /** The first piece, joined until it has at least this many bytes. */
  #joined(length: number): Buffer {
    const [first] = this.#pieces
    if (first && first.length >= length) return first
    const all = Buffer.concat(this.#pieces)
    this.#pieces = [all]
    return all
  }
}

const LENGTH_BYTES = 4

/**
 * Node flags that confine a process that runs `main`: it can read only its own code, write no file, start no program, load no add-on and
 * compile no code from strings, and its WebAssembly gets at most `memoryBytes`.
 */
export function interpreterFlags(main: string, memoryBytes: number): readonly string[] {
  return [
    PERMISSION,
    // the watchdog thread kills it when the server is gone
    '--allow-worker',
    ...readablePaths(main).map((path) => `--allow-fs-read=${path}`),
    '--disallow-code-generation-from-strings',
    '--no-addons',
    '--no-warnings',
    `--max-old-space-size=${HEAP_MB}`,
    `--wasm-max-mem-pages=${Math.ceil(memoryBytes / WASM_PAGE) + SPARE_PAGES}`,
  ]
}

/** In Node 20 the flag is experimental. */
const PERMISSION = process.allowedNodeEnvironmentFlags.has('--permission')
  ? '--permission'
  : '--experimental-permission'

/** JavaScript's own memory: the loaders, arguments and results. */
const HEAP_MB = 192
const WASM_PAGE = 65_536
/** So that QuickJS reaches its own limit first and can report it. */
const SPARE_PAGES = 256

const PACKAGES = ['pyodide', 'quickjs-emscripten', '@swc/wasm-typescript']

/** Our code and its packages, including the targets of links. */
function readablePaths(main: string): readonly string[] {
  const require = createRequire(import.meta.url)
  const paths = new Set([join(dirname(main), sep)])
  for (const folder of foldersAbove(main)) {
    paths.add(join(folder, 'node_modules', sep))
    paths.add(join(folder, 'package.json'))
  }
  for (const name of PACKAGES) {
    const file = require.resolve(name)
    paths.add(file.slice(0, file.lastIndexOf(NODE_MODULES) + NODE_MODULES.length))
  }
  return [...paths]
}

const NODE_MODULES = `${sep}node_modules${sep}`

function foldersAbove(path: string): readonly string[] {
  const folder = dirname(path)
  return folder === path ? [] : [folder, ...foldersAbove(folder)]
}

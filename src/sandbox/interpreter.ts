import { type ChildProcess, spawn } from 'node:child_process'
import type { Duplex } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { type BoundScript, type InterpreterStart, type MessageTag, MESSAGE_TAGS } from './inside/messages.ts'
import type { SandboxLimits } from './sandbox-limits.ts'
import { SandboxFailure } from './sandbox.ts'
import { createRequire } from 'node:module'
import { dirname, join, sep } from 'node:path'

/** How long an interpreter may take to start. */
const START_MS = 60_000
/** The longest snapshot: an interpreter with nothing in it. */
const SNAPSHOT_BYTES = 128 * 1024 ** 2
/** What a failure's words may take. */
const FAILURE_BYTES = 256 * 1024

/**
 * An interpreter in a process of its own, as the server sees it: takes one call after the other. What comes from it is not believed: a
 * script may have taken it over.
 */
export class Interpreter {
  readonly runtime: InterpreterStart['runtime']
  /** Resolves with the memory of the fresh interpreter, if it was wanted, once it takes calls. */
  readonly started: Promise<Buffer | undefined>
  /** Whether it takes no more calls, ever. */
  isOver = false
  /** Resolves once nothing is left of it. */
  readonly ended: Promise<void>
  readonly #limits: SandboxLimits
  readonly #child: ChildProcess
  readonly #pipe: Duplex
  readonly #reader = new MessageReader(SNAPSHOT_BYTES)
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
    this.started.catch(() => undefined) // who calls it learns of it
  }

  /** Makes it the interpreter of this script for good. */
  bind(script: BoundScript): void {
    this.#send(MESSAGE_TAGS.bind, Buffer.from(JSON.stringify(script)))
  }

  /**
   * Calls the script with arguments (the text of a JSON array); answers the text of what it returned, undefined for nothing. Throws a
   * `SandboxFailure`. When the signal says that nobody waits any more, it has a moment to end by itself, then it is killed.
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

  /** Kills it. */
  end(): void {
    this.#over()
    this.#child.kill('SIGKILL')
  }

  async #start(snapshot: Snapshot): Promise<Buffer | undefined> {
    const failure = new SandboxFailure('overloaded', 'The interpreter did not start; try again later.')
    const answer = this.#answer(START_MS, failure, failure)
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
    this.#reader.limit = this.#limits.resultBytes + FAILURE_BYTES
    return body.length > 0 ? body : undefined
  }

  #read({ letter, body }: Message): string | undefined {
    if (letter === MESSAGE_TAGS.value && body.length <= this.#limits.resultBytes) return body.toString()
    if (letter === MESSAGE_TAGS.nothing) return undefined
    if (letter === MESSAGE_TAGS.failure || letter === MESSAGE_TAGS.lastFailure) {
      const failure = readFailure(body.toString())
      // what took all its memory has left little of it
      if (letter === MESSAGE_TAGS.lastFailure || failure.kind === 'memory') this.end()
      throw failure
    }
    this.end()
    throw new SandboxFailure('output', `The script returned more than ${this.#limits.resultBytes} bytes.`)
  }

  /** The next message. While one is waited for, the interpreter keeps the server running. */
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
      if (!waiting) return this.end() // nobody asked
      waiting.resolve(message)
    }
  }

  #over(reason?: SandboxFailure): void {
    if (this.isOver) return
    this.isOver = true
    const waiting = this.#rest()
    waiting?.reject(reason ?? waiting.gone)
  }

  /** Nothing is waited for any more. */
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

/** A snapshot to start from; or whether to make one. */
export type Snapshot = Buffer | 'wanted' | 'none'

/** How long a script of which nobody waits for the answer may still take. */
const GRACE_MS = 250

/** A process that ends in a call was stopped by one of its memory limits: nothing else does that. */
function outOfMemory(): SandboxFailure {
  return new SandboxFailure('memory', 'The script took more memory than scripts have, and was stopped.')
}

interface Waiting {
  readonly resolve: (message: Message) => void
  readonly reject: (reason: SandboxFailure) => void
  /** What to say if it ends by itself. */
  readonly gone: SandboxFailure
  timer: NodeJS.Timeout | undefined
}

/** A pipe that is a socket, as those of child processes are. */
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

/** Starts the process of an interpreter. All it has is one pipe (file descriptor 3): no environment, no standard streams, no arguments. */
export function spawnInterpreter(memoryBytes: number): ChildProcess {
  return spawn(process.execPath, [...interpreterFlags(MAIN, memoryBytes), MAIN], {
    env: {},
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    windowsHide: true,
  })
}

const MAIN = fileURLToPath(new URL('./inside/main.js', import.meta.url))

/** A message of an interpreter's, as `inside/messages.ts` describes them. */
interface Message {
  readonly letter: string
  readonly body: Buffer
}

/** Cuts what comes out of a pipe into messages. What is in them is not believed here, only that they are not too long. */
export class MessageReader {
  /** The longest message that is taken, in bytes. */
  limit: number
  #pieces: Buffer[] = []
  #length = 0

  constructor(limit: number) {
    this.limit = limit
  }

  /** The messages that end in this piece; undefined if one is too long, after which nothing can be read any more. */
  read(piece: Buffer): readonly Message[] | undefined {
    this.#pieces.push(piece)
    this.#length += piece.length
    const messages: Message[] = []
    while (this.#length >= HEAD) {
      const first = this.#joined(HEAD)
      const length = first.readUInt32BE()
      if (length < 1 || length > this.limit) return undefined
      if (this.#length < HEAD + length) break
      const all = this.#joined(this.#length)
      const end = HEAD + length
      messages.push({ letter: String.fromCharCode(all[HEAD] ?? 0), body: all.subarray(HEAD + 1, end) })
      this.#pieces = [all.subarray(end)]
      this.#length -= end
    }
    return messages
  }

  /** The first piece, once it has at least so many bytes. */
  #joined(length: number): Buffer {
    const [first] = this.#pieces
    if (first && first.length >= length) return first
    const all = Buffer.concat(this.#pieces)
    this.#pieces = [all]
    return all
  }
}

/** Four bytes of length. */
const HEAD = 4

/**
 * The flags of Node that a process which runs `main` needs to be harmless: it may read the code it consists of and no other file, write
 * none, start no program, load no add-on, make no code out of strings, and WebAssembly in it gets no more memory than `memoryBytes`.
 */
export function interpreterFlags(main: string, memoryBytes: number): readonly string[] {
  return [
    PERMISSION,
    // a thread of its own kills it when the server is gone
    '--allow-worker',
    ...readablePaths(main).map((path) => `--allow-fs-read=${path}`),
    '--disallow-code-generation-from-strings',
    '--no-addons',
    '--no-warnings',
    `--max-old-space-size=${HEAP_MB}`,
    `--wasm-max-mem-pages=${Math.ceil(memoryBytes / WASM_PAGE) + SPARE_PAGES}`,
  ]
}

/** Node 20 calls it an experiment. */
const PERMISSION = process.allowedNodeEnvironmentFlags.has('--permission')
  ? '--permission'
  : '--experimental-permission'

/** JavaScript's own memory: the interpreters' loaders, arguments and results. */
const HEAP_MB = 192
const WASM_PAGE = 65_536
/** So that QuickJS, which counts for itself, meets its own limit first and can say so. */
const SPARE_PAGES = 256

const PACKAGES = ['pyodide', 'quickjs-emscripten', '@swc/wasm-typescript']

/** Our code for it, and the packages; where those are links, what they point to, too. */
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

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Place, RanFunction, Reply } from './messages.ts'

/** A program in a process of its own, of which is counted what runs. */
export interface MeasuredProgram {
  /** Waits until it has written what matches to either of its outputs, and answers the first group. */
  wrote(pattern: RegExp): Promise<string>
  /**
   * The functions that ran since the last time, in all threads of it and of the node processes that it started. Rejects where one of these
   * cannot be counted: it is locked in, or has ended.
   */
  take(): Promise<readonly RanFunction[]>
  /** Notes from now on in what order these functions are called for the first time. */
  watch(places: readonly Place[]): Promise<void>
  /** That order, up to now. */
  firstCalls(): Promise<readonly Place[]>
  stop(): Promise<void>
}

const MEASURED = new URL('./measured.js', import.meta.url).href

/** Starts `node <args>` with counting inside. */
export async function startMeasured(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<MeasuredProgram> {
  const folder = await mkdtemp(join(tmpdir(), 'ways-'))
  const path = join(folder, 'socket')
  const processes = new Set<MeasuredProcess>()
  /** Processes that have ended since the last time, with what ran in them. */
  let lost = 0
  const server = createServer((socket) => {
    const its = new MeasuredProcess(socket)
    processes.add(its)
    socket.once('close', () => {
      processes.delete(its)
      lost++
    })
  }).listen(path)
  await once(server, 'listening')
  const child = spawn(process.execPath, ['--import', `${MEASURED}?${encodeURIComponent(path)}`, ...args], {
    env: { ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const reap = (): boolean => child.kill('SIGKILL')
  process.once('exit', reap)
  const exited = once(child, 'exit')
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (piece: Buffer) => (output += piece.toString()))
  const wrote = async (pattern: RegExp): Promise<string> => {
    for (;;) {
      const found = pattern.exec(output)
      if (found) return found[1] ?? ''
      if (child.exitCode !== null || child.signalCode !== null)
        throw new Error(`the program ended before it had written ${pattern}: ${output}`)
      await Promise.race([exited, once(child.stdout, 'data'), once(child.stderr, 'data')])
    }
  }
  const all = async (work: (one: MeasuredProcess) => Promise<Reply>): Promise<readonly Reply[]> =>
    Promise.all([...processes].map(work))
  return {
    wrote,
    take: async () => {
      const replies = await all((one) => one.ask({ ask: 'take' }))
      if (lost > 0) throw new Error(`${lost} node processes ended before it was counted what ran in them`)
      return replies.flatMap(({ ran = [] }) => ran)
    },
    watch: async (places) => {
      await all((one) => one.ask({ ask: 'watch', places }))
    },
    firstCalls: async () =>
      (await all((one) => one.ask({ ask: 'firstCalls' }))).flatMap(({ order = [] }) => order),
    stop: async () => {
      child.kill('SIGTERM')
      await exited
      process.off('exit', reap)
      server.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** One process, as the thread that measures inside it speaks. */
class MeasuredProcess {
  readonly #socket: Socket
  readonly #waiting = new Map<number, { resolve(reply: Reply): void; reject(error: Error): void }>()
  #lastId = 0

  constructor(socket: Socket) {
    this.#socket = socket
    createInterface({ input: socket }).on('line', (line) => this.#hear(JSON.parse(line) as Reply)) // our own thread wrote it
    socket.on('error', () => undefined)
    socket.once('close', () => {
      for (const { reject } of this.#waiting.values()) reject(new Error('a measured process has ended'))
    })
  }

  ask(
    what:
      { readonly ask: 'take' | 'firstCalls' } | { readonly ask: 'watch'; readonly places: readonly Place[] },
  ): Promise<Reply> {
    const id = ++this.#lastId
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      this.#socket.write(`${JSON.stringify({ ...what, id })}\n`)
    })
  }

  #hear(reply: Reply): void {
    const waiting = this.#waiting.get(reply.id)
    this.#waiting.delete(reply.id)
    if (reply.failure === undefined) waiting?.resolve(reply)
    else waiting?.reject(new Error(reply.failure))
  }
}

/** What starts a server of the modules as tsc makes them. */
export const SERVE_MODULES = fileURLToPath(new URL('./serve-modules.js', import.meta.url))

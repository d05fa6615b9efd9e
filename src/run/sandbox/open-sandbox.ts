import { type Json, JsonTextError, parseJson, stringifyJson } from '../../base/json.ts'
import { Semaphore } from '../../base/scheduling.ts'
import { type Sandbox, SandboxFailure, type SandboxJob } from './sandbox.ts'
import type { SandboxLimits } from './sandbox-limits.ts'
import { Interpreter } from './interpreter.ts'

/**
 * Opens a sandbox whose interpreters are WebAssembly (CPython by pyodide, QuickJS) in confined processes; see `inside/`. Starts none before
 * the first call. Numbers keep their digits: Python gets an integer of twenty digits as such; JavaScript reads the nearest double.
 */
export function openSandbox(limits: SandboxLimits): OpenSandbox {
  return new ProcessSandbox(limits)
}

export interface OpenSandbox extends Sandbox {
  /** How many scripts run, and how many wait. */
  readonly load: { readonly running: number; readonly waiting: number }
}

class ProcessSandbox implements OpenSandbox {
  readonly #limits: SandboxLimits
  readonly #shelf: InterpreterPool
  readonly #permits: Semaphore
  /** To abort unanswered calls. */
  readonly #going = new Set<AbortController>()
  #isClosed = false

  constructor(limits: SandboxLimits) {
    this.#limits = limits
    this.#shelf = new InterpreterPool(limits)
    this.#permits = new Semaphore(limits.atOnce)
  }

  get load(): OpenSandbox['load'] {
    return this.#permits.load
  }

  async run(job: SandboxJob): Promise<Json | undefined> {
    if (this.#isClosed || job.signal.aborted) throw nobodyWaits()
    const text = await this.#outcome(job)
    return text === undefined ? undefined : readResult(text, job.entryPoint)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const call of this.#going) call.abort()
    await this.#shelf.close()
  }

  /** Rejects as soon as the call is aborted, even if the script still runs. */
  async #outcome(job: SandboxJob): Promise<string | undefined> {
    const giveUp = new AbortController()
    const abort = (): void => giveUp.abort()
    job.signal.addEventListener('abort', abort, { once: true })
    this.#going.add(giveUp)
    try {
      return await new Promise((resolve, reject) => {
        giveUp.signal.addEventListener('abort', () => reject(nobodyWaits()))
        this.#serve(job, giveUp.signal).then(resolve, reject)
      })
    } finally {
      this.#going.delete(giveUp)
      job.signal.removeEventListener('abort', abort)
    }
  }

  async #serve(job: SandboxJob, giveUp: AbortSignal): Promise<string | undefined> {
    const { queue } = this.#limits
    const release = await this.#permits.acquire({ key: job.owner, signal: giveUp, mostWaiting: queue })
    if (!release) throw new SandboxFailure('overloaded', `${queue} scripts wait already; try again later.`)
    try {
      const interpreter = await this.#shelf.take(job)
      try {
        return giveUp.aborted ? undefined : await interpreter.call(stringifyJson(job.args), giveUp)
      } finally {
        this.#shelf.giveBack(interpreter, job)
      }
    } finally {
      release()
    }
  }
}

function nobodyWaits(): SandboxFailure {
  return new SandboxFailure('aborted', 'The call was given up.')
}

/** The text comes from the script, so it may be anything. */
function readResult(text: string, entryPoint: string): Json {
  try {
    return parseJson(text)
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error
    // the message contains the place, which is as long as the value is deep
    const message = error.message.slice(0, 1000)
    throw new SandboxFailure('result', `What ${entryPoint} returned cannot be kept as JSON. ${message}`)
  }
}

/** What an interpreter is bound to: a script of an owner. */
type Purpose = Pick<SandboxJob, 'owner' | 'runtime' | 'script' | 'entryPoint'>

/**
 * Idle interpreters. Those that have run a script wait for its next call; the least recently used is ended first. Once Python was needed, one
 * unbound Python is kept ready, because it starts slowly.
 */
class InterpreterPool {
  readonly #limits: SandboxLimits
  /** The least recently used first. */
  readonly #warm: Shelved[] = []
  readonly #living = new Set<Interpreter>()
  /** The memory of a freshly started Python, from which others start quickly; shared by all pools. */
  static #snapshot: Buffer | undefined
  /** Resolves when the interpreter that makes the snapshot has started. */
  static #making: Promise<void> | undefined
  #spare: Interpreter | undefined
  #spareTimer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(limits: SandboxLimits) {
    this.#limits = limits
  }

  /** An interpreter bound to this script of this owner: an idle or a new one. Throws a `SandboxFailure` if none starts. */
  async take(purpose: Purpose): Promise<Interpreter> {
    const place = this.#warm.findLastIndex((it) => isSame(it.purpose, purpose) && !it.interpreter.isOver)
    const [found] = place < 0 ? [] : this.#warm.splice(place, 1)
    if (found) {
      clearTimeout(found.timer)
      return found.interpreter
    }
    const { runtime, script, entryPoint } = purpose
    const interpreter = runtime === 'python' ? await this.#takePython() : this.#open(runtime)
    await interpreter.started
    if (runtime === 'python') this.#keepSpare()
    interpreter.bind({ script, entryPoint })
    return interpreter
  }

  /** Returns an interpreter from `take`, if it is still usable. */
  giveBack(interpreter: Interpreter, purpose: Purpose): void {
    if (interpreter.isOver) return
    const timer = setTimeout(() => interpreter.end(), this.#limits.idleMs).unref()
    this.#warm.push({ interpreter, purpose, timer })
    if (this.#warm.length > this.#limits.warm) this.#warm[0]?.interpreter.end()
  }

  /** Ends all interpreters; resolves when they have ended. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#spareTimer)
    const living = [...this.#living]
    for (const interpreter of living) interpreter.end()
    await Promise.all(living.map((it) => it.ended))
  }

  #open(runtime: Purpose['runtime']): Interpreter {
    if (this.#isClosed) throw new SandboxFailure('aborted', 'The sandbox is closed.')
    const snapshot = runtime === 'python' ? (InterpreterPool.#snapshot ?? 'wanted') : 'none'
    const interpreter = new Interpreter(runtime, this.#limits, snapshot)
    this.#living.add(interpreter)
    void interpreter.ended.then(() => this.#forget(interpreter))
    if (snapshot === 'wanted') InterpreterPool.#making = this.#makeSnapshot(interpreter)
    return interpreter
  }

  async #makeSnapshot(interpreter: Interpreter): Promise<void> {
    const memory = await interpreter.started.catch(() => undefined)
    InterpreterPool.#snapshot ??= memory
    InterpreterPool.#making = undefined
  }

  async #takePython(): Promise<Interpreter> {
    await InterpreterPool.#making
    const spare = this.#spare
    this.#spare = undefined
    return spare && !spare.isOver ? spare : this.#open('python')
  }

  #keepSpare(): void {
    if (this.#isClosed) return
    if (!this.#spare || this.#spare.isOver) this.#spare = this.#open('python')
    clearTimeout(this.#spareTimer)
    this.#spareTimer = setTimeout(() => this.#spare?.end(), this.#limits.idleMs).unref()
  }

  #forget(interpreter: Interpreter): void {
    this.#living.delete(interpreter)
    const place = this.#warm.findIndex((it) => it.interpreter === interpreter)
    const [shelved] = place < 0 ? [] : this.#warm.splice(place, 1)
    clearTimeout(shelved?.timer)
  }
}

interface Shelved {
  readonly interpreter: Interpreter
  readonly purpose: Purpose
  readonly timer: NodeJS.Timeout
}

function isSame(a: Purpose, b: Purpose): boolean {
  return (
    a.owner === b.owner && a.runtime === b.runtime && a.entryPoint === b.entryPoint && a.script === b.script
  )
}

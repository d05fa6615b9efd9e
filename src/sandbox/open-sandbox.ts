import type { Json } from '../json/json.ts'
import { JsonTextError } from '../json/json-text-error.ts'
import { parseLargeJson } from '../json/parse-json.ts'
import { stringifyJson } from '../json/stringify-json.ts'
import { FairQueue } from '../scheduling/fair-queue.ts'
import { InterpreterPool } from './interpreter-shelf.ts'
import { type Sandbox, SandboxFailure, type SandboxJob } from './sandbox.ts'
import type { SandboxLimits } from './sandbox-limits.ts'

/**
 * Opens a sandbox whose interpreters are WebAssembly (CPython by pyodide, QuickJS) in processes of their own that may do nothing; see
 * `inside/`. It starts none before the first call. Numbers pass as they are written: an integer of twenty digits is one in Python; what
 * JavaScript reads is the nearest double.
 */
export function openSandbox(limits: SandboxLimits): OpenSandbox {
  return new ProcessSandbox(limits)
}

/** A sandbox that says how busy it is. */
export interface OpenSandbox extends Sandbox {
  /** How many scripts run, and how many wait for one to end. */
  readonly load: { readonly running: number; readonly waiting: number }
}

class ProcessSandbox implements OpenSandbox {
  readonly #limits: SandboxLimits
  readonly #shelf: InterpreterPool
  readonly #queue = new FairQueue<Call>()
  /** To give up the calls that are not answered yet. */
  readonly #going = new Set<AbortController>()
  #served = 0
  #isClosed = false

  constructor(limits: SandboxLimits) {
    this.#limits = limits
    this.#shelf = new InterpreterPool(limits)
  }

  get load(): OpenSandbox['load'] {
    return { running: this.#served, waiting: this.#queue.length }
  }

  async run(job: SandboxJob): Promise<Json | undefined> {
    if (this.#isClosed || job.signal.aborted) throw nobodyWaits()
    if (this.#queue.lengthOf(job.owner) >= this.#limits.queue)
      throw new SandboxFailure('overloaded', `${this.#limits.queue} scripts wait already; try again later.`)
    const text = await this.#outcome(job)
    return text === undefined ? undefined : readResult(text, job.entryPoint)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const call of this.#going) call.abort()
    await this.#shelf.close()
  }

  /** Rejects as soon as nobody waits, whatever the script still does. */
  async #outcome(job: SandboxJob): Promise<string | undefined> {
    const giveUp = new AbortController()
    const abort = (): void => giveUp.abort()
    job.signal.addEventListener('abort', abort, { once: true })
    const answer = new Promise<string | undefined>((resolve, reject) => {
      const call: Call = { owner: job.owner, job, giveUp: giveUp.signal, resolve, reject }
      giveUp.signal.addEventListener('abort', () => {
        this.#queue.remove(call)
        reject(nobodyWaits())
      })
      this.#queue.add(call)
    })
    this.#going.add(giveUp)
    this.#goOn()
    try {
      return await answer
    } finally {
      this.#going.delete(giveUp)
      job.signal.removeEventListener('abort', abort)
    }
  }

  #goOn(): void {
    while (this.#served < this.#limits.atOnce) {
      const call = this.#queue.take()
      if (!call) return
      this.#served++
      void this.#serve(call).finally(() => {
        this.#served--
        this.#goOn()
      })
    }
  }

  async #serve({ job, giveUp, resolve, reject }: Call): Promise<void> {
    try {
      const interpreter = await this.#shelf.take(job)
      try {
        if (!giveUp.aborted) resolve(await interpreter.call(stringifyJson(job.args), giveUp))
      } finally {
        this.#shelf.giveBack(interpreter, job)
      }
    } catch (error) {
      reject(error)
    }
  }
}

interface Call {
  readonly owner: string
  readonly job: SandboxJob
  /** Aborted when nobody waits any more. */
  readonly giveUp: AbortSignal
  readonly resolve: (text: string | undefined) => void
  readonly reject: (error: unknown) => void
}

function nobodyWaits(): SandboxFailure {
  return new SandboxFailure('aborted', 'The call was given up.')
}

/** The text comes from the script: it may be anything. */
async function readResult(text: string, entryPoint: string): Promise<Json> {
  try {
    return await parseLargeJson(text)
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error
    // the place is as deep as the value is
    const message = error.message.slice(0, 1000)
    throw new SandboxFailure('result', `What ${entryPoint} returned cannot be kept as JSON. ${message}`)
  }
}

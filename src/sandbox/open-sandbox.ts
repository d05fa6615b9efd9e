import type { Json } from '../json/json.ts'
import { JsonTextError } from '../json/json-text-error.ts'
import { parseLargeJson } from '../json/parse-json.ts'
import { stringifyJson } from '../json/stringify-json.ts'
import { Semaphore } from '../scheduling/semaphore.ts'
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
  readonly #permits: Semaphore
  /** To give up the calls that are not answered yet. */
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

  /** Rejects as soon as nobody waits, whatever the script still does. */
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

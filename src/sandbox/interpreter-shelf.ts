import { Interpreter } from './interpreter.ts'
import { SandboxFailure, type SandboxJob } from './sandbox.ts'
import type { SandboxLimits } from './sandbox-limits.ts'

/** What an interpreter serves for good: its script, of its owner. */
type Purpose = Pick<SandboxJob, 'owner' | 'runtime' | 'script' | 'entryPoint'>

/**
 * The interpreters that wait: those that have served a script wait for its next call, the longest unused of them makes room first; and
 * one Python, which takes long to start, waits for a script it has not seen, once there has been a need of one.
 */
export class InterpreterPool {
  readonly #limits: SandboxLimits
  /** The longest unused first. */
  readonly #warm: Shelved[] = []
  readonly #living = new Set<Interpreter>()
  /** The memory of a Python that has just started, which makes others start quickly, those of other shelves too. */
  static #snapshot: Buffer | undefined
  /** Resolves once the one that is to give it has started. */
  static #making: Promise<void> | undefined
  #spare: Interpreter | undefined
  #spareTimer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(limits: SandboxLimits) {
    this.#limits = limits
  }

  /** One that serves this script of this owner and has served none else: warm, or new. Throws a `SandboxFailure` if none starts. */
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

  /** Takes back one that `take` gave, if it is still good. */
  giveBack(interpreter: Interpreter, purpose: Purpose): void {
    if (interpreter.isOver) return
    const timer = setTimeout(() => interpreter.end(), this.#limits.idleMs).unref()
    this.#warm.push({ interpreter, purpose, timer })
    if (this.#warm.length > this.#limits.warm) this.#warm[0]?.interpreter.end()
  }

  /** Ends all of them; resolves once they are gone. */
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

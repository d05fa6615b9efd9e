import { setImmediate as nextRound, setTimeout as wait } from 'node:timers/promises'

/** Resolves after other waiting work, such as requests, has run. */
export function yieldToEventLoop(): Promise<void> {
  return nextRound()
}

/** Milliseconds of work between two yields. */
const SLICE_MS = 8
/** Maximum milliseconds of bounded work in total. */
const MOST_MS = 10_000

/** Reading the clock costs as much as a short step, so it is read once in this many steps. */
const STEPS = 64

/** Work in slices: it yields when its `Pace` says so, and returns the result; see `TimeSlice.run`. */
export type InSlices<T> = Generator<undefined, T, undefined>

/** Runs work that is known to be short, without yielding. */
export function atOnce<T>(work: InSlices<T>): T {
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
  }
}

/** Counts the steps of work that yields, at any depth of recursion. */
export class Pace {
  #steps = 0

  /** Call it at each step: answers whether to yield. */
  get isDue(): boolean {
    return ++this.#steps % STEPS === 0
  }
}

/**
 * Splits long work into slices. Other requests run between two slices. If the caller is gone, the work ends there. Use one for each piece of work.
 */
export class TimeSlice {
  readonly #stop: AbortSignal | undefined
  readonly #tooMuch: (() => Error) | undefined
  #begun = performance.now()
  #left: number

  /**
   * When `stop` is aborted, the next rest throws its reason. With `tooMuch`, work of more than `mostMs`, without the time of other work,
   * throws that error.
   */
  constructor(stop?: AbortSignal, tooMuch?: () => Error, mostMs = MOST_MS) {
    this.#stop = stop
    this.#tooMuch = tooMuch
    this.#left = mostMs
  }

  /** The signal that ends the work, if any. */
  get signal(): AbortSignal | undefined {
    return this.#stop
  }

  /** Whether to call `rest`. */
  get isOver(): boolean {
    return performance.now() - this.#begun >= SLICE_MS
  }

  /** Lets other work run, and begins the next slice. Throws if the work is to end. */
  async rest(): Promise<void> {
    this.#left -= performance.now() - this.#begun
    if (this.#tooMuch && this.#left < 0) throw this.#tooMuch()
    await yieldToEventLoop()
    this.#stop?.throwIfAborted()
    this.#begun = performance.now()
  }

  /** Rests if the slice is over. */
  async pause(): Promise<void> {
    if (this.isOver) await this.rest()
  }

  /** Runs work that yields when its `Pace` says so, in slices, and answers its result. */
  async run<T>(work: InSlices<T>): Promise<T> {
    for (;;) {
      const { done, value } = work.next()
      if (done) return value
      if (this.isOver) await this.rest()
    }
  }

  /** Maps items one after the other. A step may be long, so the clock is read after each. */
  async map<T, R>(items: Iterable<T>, step: (item: T) => R | Promise<R>): Promise<R[]> {
    const made: R[] = []
    for (const item of items) {
      made.push(await step(item))
      await this.pause()
    }
    return made
  }

  /** Calls a step for each item, in order, in slices; waits for a step that answers a promise. */
  async each<T>(items: Iterable<T>, step: (item: T, index: number) => unknown): Promise<void> {
    let index = 0
    for (const item of items) {
      const pending = step(item, index)
      if (pending instanceof Promise) await pending
      if (++index % STEPS === 0 && this.isOver) await this.rest()
    }
    await this.pause()
  }
}

/** Milliseconds of background work between two rests … */
const PIECE_MS = 2
/** … and the duration of a rest, as a multiple of that. */
const REST = 3

/**
 * Calls a step for each item at low priority: it works for two milliseconds at a time, or one step if that takes longer, and at most a
 * quarter of the time. Rejects when `stop` is aborted, or a step throws.
 */
export async function atRest<T>(
  items: Iterable<T>,
  stop: AbortSignal,
  step: (item: T) => Promise<unknown>,
): Promise<void> {
  let began = performance.now()
  for (const item of items) {
    stop.throwIfAborted()
    await step(item)
    const took = performance.now() - began
    if (took < PIECE_MS) continue
    await wait(REST * took, undefined, { signal: stop, ref: false })
    began = performance.now()
  }
}

let turn = 0
let ending = false
let hasArrived = false

/**
 * A number that stays the same while requests that arrived together are handled. These requests may share what was read from the disk in
 * this epoch, because it was read after all of them had arrived. An epoch ends with the current round of the event loop, before a client
 * can get an answer and send another request.
 */
export function readEpoch(): number {
  endWithRound()
  return turn
}

/**
 * Call it when a request arrives. The first of several that arrive together begins an epoch: data that timers and background work read
 * earlier in this round may be older than another server's answer to the same client.
 */
export function beginReadEpoch(): void {
  if (hasArrived) return
  hasArrived = true
  turn++
  endWithRound()
}

/** Call it when data read in this epoch may be outdated: the next reader reads again. */
export function renewReadEpoch(): void {
  turn++
  endWithRound()
}

function endWithRound(): void {
  if (ending) return
  ending = true
  setImmediate(endTurn)
}

function endTurn(): void {
  ending = false
  hasArrived = false
  turn++
}

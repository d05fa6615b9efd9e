import { setImmediate as nextRound, setTimeout as wait } from 'node:timers/promises'

/** Lets whatever waits for the event loop have its turn, other requests above all. */
export function yieldToEventLoop(): Promise<void> {
  return nextRound()
}

/** How long work goes on before others have their turn, in milliseconds. */
const SLICE_MS = 8
/** How long work with a bound may go on, all in all. */
const MOST_MS = 10_000

/** A look at the clock costs as much as a short step, so there is one for so many. */
const STEPS = 64

/** Work that is done in slices: it yields whenever its `Pace` says so, and returns what comes of it; see `TimeSlice.run`. */
export type InSlices<T> = Generator<undefined, T, undefined>

/** Does work that could yield in one go: it is known to be short. */
export function atOnce<T>(work: InSlices<T>): T {
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
  }
}

/** Counts the steps of work that yields, however deep it is in what it walks. */
export class Pace {
  #steps = 0

  /** To be asked at each step: whether it is time to yield. */
  get isDue(): boolean {
    return ++this.#steps % STEPS === 0
  }
}

/**
 * The time that long work takes at a stretch: between two slices of it other requests have their turn, and work that nobody waits
 * for any more ends. Each piece of work has one of its own.
 */
export class TimeSlice {
  readonly #stop: AbortSignal | undefined
  readonly #tooMuch: (() => Error) | undefined
  #begun = performance.now()
  #left: number

  /**
   * Once `stop` comes, the work ends with its reason when it rests next; with what `tooMuch` makes, if given, once it has gone on for
   * more than `mostMs`, not counting what others took.
   */
  constructor(stop?: AbortSignal, tooMuch?: () => Error, mostMs = MOST_MS) {
    this.#stop = stop
    this.#tooMuch = tooMuch
    this.#left = mostMs
  }

  /** What ends the work, if anything does. */
  get signal(): AbortSignal | undefined {
    return this.#stop
  }

  /** Whether it is time for `rest`. */
  get isOver(): boolean {
    return performance.now() - this.#begun >= SLICE_MS
  }

  /** Lets others have their turn, and begins the next slice. Throws what ends the work. */
  async rest(): Promise<void> {
    this.#left -= performance.now() - this.#begun
    if (this.#tooMuch && this.#left < 0) throw this.#tooMuch()
    await yieldToEventLoop()
    this.#stop?.throwIfAborted()
    this.#begun = performance.now()
  }

  /** Rests if it is time for that. */
  async pause(): Promise<void> {
    if (this.isOver) await this.rest()
  }

  /** Does work that yields when its `Pace` says so, in as many slices as that takes, and answers what it returns. */
  async run<T>(work: InSlices<T>): Promise<T> {
    for (;;) {
      const { done, value } = work.next()
      if (done) return value
      if (this.isOver) await this.rest()
    }
  }

  /** What a step makes of each item, one after the other. A step may be long: after each it is asked whether the slice is over. */
  async map<T, R>(items: Iterable<T>, step: (item: T) => R | Promise<R>): Promise<R[]> {
    const made: R[] = []
    for (const item of items) {
      made.push(await step(item))
      await this.pause()
    }
    return made
  }

  /** Takes one step for each item, in order, as many slices as that takes; a step that answers a promise is waited for. */
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

/** How long work at rest goes on at a stretch, in milliseconds … */
const PIECE_MS = 2
/** … and how many times as long it rests then. */
const REST = 3

/**
 * Takes a step for each item while others have the machine: two milliseconds at a stretch, or one step where that takes longer, and a
 * quarter of the time at most. Rejects once `stop` comes, and with what a step throws.
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
 * A number that stays the same while the requests that came in together are worked on, and is another one afterwards. What
 * was seen on the disk in this turn was seen after all of these requests had arrived, so they may share it. A turn ends with the event loop's current round: before any answer of it reaches a client that could ask again.
 */
export function readEpoch(): number {
  endWithRound()
  return turn
}

/**
 * To be called when a request comes in. The first of those that come in together begins a turn: what timers and background work of
 * this round saw before may be older than what another server has answered the client since.
 */
export function beginReadEpoch(): void {
  if (hasArrived) return
  hasArrived = true
  turn++
  endWithRound()
}

/** To be called when what was seen in this turn may not be so any more: whoever looks next looks afresh. */
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

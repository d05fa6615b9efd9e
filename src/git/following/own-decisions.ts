import type { Decision } from '../transactions/arbiter.ts'
import type { StreamPosition } from './shared-log.ts'

/** The decisions of this server, from when they were decided until they are in its folder. */
export class OwnDecisions {
  /** Those that are not settled, in the order of the stream. */
  #batches: Batch[] = []
  #settled: StreamPosition | undefined

  /** How far the server's own stream is in the folder, without a gap. */
  get settled(): StreamPosition | undefined {
    return this.#settled
  }

  /** A batch was decided, of so many decisions. `onFailure` gets the number of one that could not be put in place. */
  decided(position: StreamPosition, count: number, onFailure: (number: number) => void): Decision[] {
    const batch: Batch = { position, open: count, waiting: [] }
    this.#batches.push(batch)
    this.#settle()
    return Array.from({ length: count }, (_, number) => {
      let isOver = false
      const end = (failed: boolean): boolean => {
        if (isOver) return false
        isOver = true
        if (failed) onFailure(number)
        batch.open--
        this.#settle()
        return true
      }
      return {
        complete: () => void end(false),
        // It has happened all the same: what is missing here is taken from the log.
        withdraw: async () => void end(true),
        keep: () => end(true),
      }
    })
  }

  /** Resolves once all that is decided now is in the folder, or has failed to get there. */
  async untilPlaced(): Promise<void> {
    const open = this.#batches.filter((batch) => batch.open > 0)
    await Promise.all(open.map((batch) => new Promise<void>((resolve) => batch.waiting.push(resolve))))
  }

  /** The folder holds the stream up to there, by what was read of the log; `anew`, though it may be less than before. */
  restart(position: StreamPosition | undefined, anew = false): void {
    if (anew || (position?.n ?? 0) > (this.#settled?.n ?? -1)) this.#settled = position
    this.#settle()
  }

  /** A batch of which the answer was lost is a gap: what comes after it is not settled before that was read. */
  #settle(): void {
    for (const batch of this.#batches)
      if (batch.open === 0) for (const resolve of batch.waiting.splice(0)) resolve()
    this.#batches = this.#batches.filter(({ position, open }) => {
      const next = (this.#settled?.n ?? 0) + 1
      if (open > 0 || position.n > next) return true
      if (position.n === next) this.#settled = position
      return false
    })
  }
}

interface Batch {
  readonly position: StreamPosition
  /** How many of its decisions are not in the folder yet. */
  open: number
  readonly waiting: (() => void)[]
}

import type { Decision } from '../../git/transactions.ts'
import type { StreamPosition } from './shared-log.ts'

/** The decisions of this server that are not yet in its folder. */
export class OwnDecisions {
  /** Batches that are not settled, in the order of the stream. */
  #batches: Batch[] = []
  #settled: StreamPosition | undefined

  /** How far the server's own stream is in the folder, without a gap. */
  get settled(): StreamPosition | undefined {
    return this.#settled
  }

  /** Records a decided batch of `count` decisions. Calls `onFailure` with the number of a decision that could not be placed. */
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
        // The decision has happened all the same; the folder gets it from the log.
        withdraw: async () => void end(true),
        keep: () => end(true),
      }
    })
  }

  /** Resolves when every decision so far is in the folder, or could not be placed there. */
  async untilPlaced(): Promise<void> {
    const open = this.#batches.filter((batch) => batch.open > 0)
    await Promise.all(open.map((batch) => new Promise<void>((resolve) => batch.waiting.push(resolve))))
  }

  /** The folder has the stream up to `position`, as read from the log. With `anew`, this may be less than before. */
  restart(position: StreamPosition | undefined, anew = false): void {
    if (anew || (position?.n ?? 0) > (this.#settled?.n ?? -1)) this.#settled = position
    this.#settle()
  }

  /** Settles batches without gaps: a batch whose answer was lost has to be read from the log before those after it. */
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

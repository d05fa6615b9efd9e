import type { RowResult } from './evaluation.ts'
import type { EvaluationRow } from './evaluation-rows.ts'

/** So many results may wait for the disk before no further row is begun. */
const WAITING = 200

/** So many rows may have been begun, at most, that are not in the log when the process is killed: those first in line are among them. */
export const mostCutShort = (concurrency: number): number => 2 * (WAITING + concurrency) + concurrency

export interface RowRun {
  /** So many are run at once. */
  readonly concurrency: number
  /** Keeps results; resolves once they are on the disk. */
  readonly keep: (results: readonly RowResult[]) => Promise<void>
  readonly rows: AsyncIterable<EvaluationRow>
  /** The testcases whose rows are done already. */
  readonly done: ReadonlySet<string>
  readonly run: (row: EvaluationRow) => Promise<RowResult>
  /** Resolves once the traces of the rows that were run are stored: a row that is done has one. */
  readonly settle: () => Promise<void>
  /** Told of results once they are on the disk. */
  readonly onDone: (results: readonly RowResult[]) => void
  readonly signal: AbortSignal
}

/**
 * Runs the rows that are not done yet, `plan.concurrency` at once, and logs each. Results are written together with those that came
 * while the ones before were on their way to the disk. What was cut short by the signal is not logged, and will be run again.
 */
export async function runRows({
  concurrency,
  keep,
  rows,
  done,
  run,
  settle,
  onDone,
  signal,
}: RowRun): Promise<void> {
  const source = rows[Symbol.asyncIterator]()
  let waiting: RowResult[] = []
  let writing: Promise<void> | undefined
  let failure: { readonly error: unknown } | undefined

  await Promise.all(Array.from({ length: concurrency }, work))
  await source.return?.()
  await writing
  if (failure) throw failure.error

  async function work(): Promise<void> {
    while (!signal.aborted && !failure) {
      try {
        const next = await source.next()
        if (next.done) return
        if (done.has(next.value.testcaseId)) continue
        const result = await run(next.value)
        if (signal.aborted) return
        waiting.push(result)
        write()
        if (waiting.length >= WAITING) await writing
      } catch (error) {
        failure ??= { error }
      }
    }
  }

  function write(): void {
    writing ??= writeWaiting()
  }

  /** Checks for more and says that it is through in one step, so that nothing is left behind. */
  async function writeWaiting(): Promise<void> {
    try {
      while (waiting.length > 0) {
        const batch = waiting
        waiting = []
        await settle()
        await keep(batch)
        onDone(batch)
      }
    } catch (error) {
      failure ??= { error }
    }
    writing = undefined
  }
}

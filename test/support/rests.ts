import { TimeSlice } from '../../src/base/scheduling/cooperative.ts'

/** Longer than a slice of time (milliseconds): at each look at the clock, the slice is over. */
const JUMP = 10

/**
 * Counts how often long work rests (gives others their turn) until `work` is done. Each look at the clock finds it moved on by more than a
 * slice, so the count says how often the work asks whether to rest, whatever the speed of this machine.
 */
export async function restsDuring(work: () => Promise<unknown>): Promise<number> {
  const { rest } = TimeSlice.prototype
  const start = performance.now()
  let [rests, looks] = [0, 0]
  TimeSlice.prototype.rest = function (this: TimeSlice) {
    rests++
    return rest.call(this)
  }
  Object.defineProperty(performance, 'now', { value: () => start + ++looks * JUMP, configurable: true })
  try {
    await work()
    return rests
  } finally {
    TimeSlice.prototype.rest = rest
    Reflect.deleteProperty(performance, 'now')
  }
}

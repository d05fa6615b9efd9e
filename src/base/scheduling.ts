export {
  type InSlices,
  Pace,
  TimeSlice,
  atOnce,
  atRest,
  beginReadEpoch,
  readEpoch,
  renewReadEpoch,
  yieldToEventLoop,
} from './scheduling/cooperative.ts'
export { type AsideCall, runAside } from './scheduling/run-aside.ts'
export { DeadlinePassed, runWithin } from './scheduling/run-within.ts'
export { type Release, Semaphore } from './scheduling/semaphore.ts'
export { Turns } from './scheduling/turns.ts'

import { setTimeout as pause } from 'node:timers/promises'
import type { Step } from './disk-steps.ts'
import type { SimulatedDisk } from './simulated-disk.ts'

/** Says of a call that is about to be made whether it is a slow one. */
export type IsSlow = (step: Omit<Step, 'number'>) => boolean

/** Has calls of a disk take so many milliseconds: syncs while others go on, anything else while everybody waits, as it is in a server. */
export function slowDown(disk: SimulatedDisk, milliseconds: number, isSlow: IsSlow): void {
  const isSync: IsSlow = ({ call }) => call === 'sync' || call === 'syncDir'
  disk.watch((step) => {
    if (!isSync(step) && isSlow(step)) Atomics.wait(NEVER, 0, 0, milliseconds)
  })
  disk.holdUp((step) => (isSync(step) && isSlow(step) ? pause(milliseconds) : undefined))
}

/** Nobody wakes who waits for it. */
const NEVER = new Int32Array(new SharedArrayBuffer(4))

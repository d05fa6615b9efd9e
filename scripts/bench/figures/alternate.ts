import { setTimeout as pause } from 'node:timers/promises'
import type { BenchSetting } from '../bench-setting.ts'
import { progress } from '../progress.ts'

/** Does a piece of work, for so many seconds if it may take as long as one likes, and answers what it gave. */
type Measure = (seconds: number) => Promise<number>

/**
 * Measures all in turn, round after round, after one that does not count; answers what each round gave. So what the machine
 * is busy with for a while does not come to one of them alone.
 */
export async function alternate<Name extends string>(
  what: string,
  { rounds, seconds }: Pick<BenchSetting, 'rounds' | 'seconds'>,
  measures: Readonly<Record<Name, Measure>>,
): Promise<Record<Name, number[]>> {
  // Object.entries and Object.fromEntries forget which names they are given
  const named = Object.entries(measures) as [Name, Measure][]
  const gave = named.map(([name, measure]) => ({ name, measure, values: new Array<number>() }))
  for (let round = 0; round <= rounds; round++) {
    progress(`${what}: round ${round} of ${rounds}`)
    for (const { measure, values } of gave) {
      // What the last one left to the background is not to be in the way of the next.
      await pause((1000 * seconds) / 3)
      // The first round only warms up, longer than the others measure: compilers need thousands of runs.
      const value = await measure(round === 0 ? WARM_UP * seconds : seconds)
      if (round > 0) values.push(value)
    }
  }
  progress('')
  return Object.fromEntries(gave.map(({ name, values }) => [name, values])) as Record<Name, number[]>
}

const WARM_UP = 2.5

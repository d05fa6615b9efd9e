import { progress } from './figures.ts'
import { median } from './load.ts'

/** Measures both in turn, after a round that does not count; the median of each. */
export async function alternate(
  what: string,
  rounds: number,
  { floor, ours }: { readonly floor: Measure; readonly ours: Measure },
): Promise<{ floor: number; ours: number }> {
  const floors = []
  const mine = []
  for (let round = 0; round <= rounds; round++) {
    progress(`${what}: round ${round} of ${rounds}`)
    // The first round only warms up, longer than the others measure: compilers need thousands of runs.
    const seconds = round === 0 ? 8 : 3
    floors.push(await floor(seconds))
    mine.push(await ours(seconds))
  }
  progress('')
  return { floor: median(floors.slice(1)), ours: median(mine.slice(1)) }
}

type Measure = (seconds: number) => Promise<number>

import type { Killer, Mutant } from './kept-mutants.ts'
import { placeOf } from './kept-mutants.ts'
import type { MutatedTree, TestRun } from './mutated-tree.ts'

/** What became of a mutant. */
export type Verdict =
  | { readonly is: 'killed'; readonly path: string; readonly killedBy: Killer }
  | { readonly is: 'alive'; readonly path: string; readonly asked: number; readonly of: number }
  | { readonly is: 'gone'; readonly why: string }

/** So long tests are asked about one mutant. */
const MOST = 180_000
/** A file of tests that takes longer than this, and so many times as long as without the mutant, never ends. */
const ENDLESS = 30_000
const TIMES_AS_LONG = 10

/**
 * Runs these files of tests with the mutant in the tree, one after the other, until one fails that passes without it and fails again with it, or
 * for three minutes. That a file does not end with the mutant, or is not loaded, kills it, too.
 */
export async function killMutant(
  mutant: Mutant,
  tests: readonly string[],
  { tree, sources }: { readonly tree: MutatedTree; readonly sources: ReadonlyMap<string, string> },
): Promise<Verdict> {
  const place = placeOf(mutant, sources)
  if (typeof place === 'string') return { is: 'gone', why: place }
  const { path, mutated } = place
  const there = tests.filter((file) => tree.has(file))
  const runWith = (file: string, most: number): Promise<TestRun> =>
    tree.whileMutated(path, mutated, () => tree.run(file, { most }))
  const end = performance.now() + MOST
  let asked = 0
  for (const file of there) {
    const left = end - performance.now()
    if (left <= 0) break
    const run = await runWith(file, left)
    if (run.isCut && run.milliseconds < ENDLESS) break
    asked++
    if (run.failed === undefined && !run.isCut) continue
    const without = await tree.run(file, { most: MOST })
    if (without.failed !== undefined || without.isCut) continue
    if (run.isCut && without.milliseconds * TIMES_AS_LONG < run.milliseconds)
      return { is: 'killed', path, killedBy: { file, test: 'does not end' } }
    // on a busy machine a test may fail for that
    const again = run.isCut ? run : await runWith(file, MOST)
    if (again.failed !== undefined) return { is: 'killed', path, killedBy: { file, test: again.failed } }
  }
  return { is: 'alive', path, asked, of: there.length }
}

import { parseArgs } from 'node:util'
import { chooseMutants } from './mutants/choose-mutants.ts'
import { keepMutants, keptMutants, type Mutant, readSources } from './mutants/kept-mutants.ts'
import { killMutant, type Verdict } from './mutants/kill-mutant.ts'
import { MutatedTree } from './mutants/mutated-tree.ts'
import { collectReach, keptReach } from './mutants/reach.ts'

const USAGE = `Puts small faults into a copy of the program, one at a time, and runs the tests that reach the file of each until one fails that
passes without it: the test that is known to, then those that name a rule of the interface which the file names, those whose paths have
most words of its path, and of these the one that reaches the least. Three minutes for each fault.

  npm run proof -- mutants [--only N,N-N,…] [--keep]
  npm run proof -- mutants --choose [--seed S]
  npm run proof -- mutants --reach

  --only     numbers of mutants, as docs/mutants.md has them (all)
  --keep     notes in scripts/proofs/mutants/mutants.json which test kills which mutant, and where its text is now;
             npm run docs then writes docs/mutants.md anew
  --choose   runs none: prints new ones, a file of src each, from the lines that run for the requests of npm run ways, two minutes.
             Not each compiles, and each needs its sentence
  --seed     of the choice (20261127)
  --reach    runs none: finds out anew which tests reach which file, under V8's coverage, half an hour. What needs a browser, a
             database or a checkout is left out

A mutant is known by its text, wherever its file and line have gone. One whose text is not in src any more is told as such: another takes its
place. Ends with 1 if a mutant lives, or does not apply any more.`

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    keep: { type: 'boolean' },
    choose: { type: 'boolean' },
    seed: { type: 'string', default: '20261127' },
    reach: { type: 'boolean' },
    help: { type: 'boolean' },
  },
})
const say = (sentence: string): boolean => process.stderr.write(`${sentence}\n`)

if (values.help) process.stdout.write(`${USAGE}\n`)
else if (values.choose)
  process.stdout.write(`${JSON.stringify(await chooseMutants(Number(values.seed), say), null, 2)}\n`)
else if (values.reach) await collectReach(say)
else await prove()

async function prove(): Promise<void> {
  const began = Date.now()
  const kept = [...keptMutants()]
  const reach = keptReach()
  const sources = readSources()
  const tree = await MutatedTree.make()
  const counts = { killed: 0, alive: 0, gone: 0, 'changes nothing': 0 }
  try {
    for (const index of chosenNumbers(kept.length)) {
      const mutant = kept[index]
      if (!mutant) continue
      if (mutant.changesNothing !== undefined) {
        counts['changes nothing']++
        continue
      }
      const known = mutant.killedBy ? [mutant.killedBy.file] : []
      const tests = new Set([...known, ...(reach.get(mutant.file) ?? [])])
      const verdict = await killMutant(mutant, [...tests], { tree, sources })
      counts[verdict.is]++
      if (verdict.is !== 'killed') process.exitCode = 1
      process.stdout.write(`${index + 1} ${mutant.file}: ${toldOf(verdict, mutant)}\n`)
      const { killedBy: _, ...rest } = mutant
      if (verdict.is === 'alive') kept[index] = { ...rest, file: verdict.path }
      if (verdict.is === 'killed') kept[index] = { ...rest, file: verdict.path, killedBy: verdict.killedBy }
      if (values.keep) await keepMutants(kept)
    }
  } finally {
    tree.remove()
  }
  const seconds = Math.round((Date.now() - began) / 1000)
  const figures = Object.entries(counts).map(([name, count]) => `${count} ${name}`)
  process.stdout.write(`${figures.join(', ')}; ${seconds} s\n`)
}

function toldOf(verdict: Verdict, { breaks }: Mutant): string {
  if (verdict.is === 'gone') return verdict.why
  if (verdict.is === 'killed') return `killed by ${verdict.killedBy.file}, ${verdict.killedBy.test}`
  return `LIVES, after ${verdict.asked} of ${verdict.of} files of tests. ${breaks}`
}

/** From 0. */
function chosenNumbers(count: number): readonly number[] {
  if (values.only === undefined) return Array.from({ length: count }, (_, index) => index)
  return values.only.split(',').flatMap((range) => {
    const [first = 0, last = first] = range.split('-').map(Number)
    return Array.from({ length: last - first + 1 }, (_, index) => first - 1 + index)
  })
}

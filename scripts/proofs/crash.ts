import { parseArgs } from 'node:util'
import type { CutFigures } from './crash/cut-everywhere.ts'
import { cutEverywhere } from './crash/cut-everywhere.ts'
import type { FaultFigures } from './crash/fail-everywhere.ts'
import { failEverywhere, FAULTS, SLOWNESSES } from './crash/fail-everywhere.ts'
import { cutBoth } from './crash/shared/cut-both.ts'

const USAGE = `Runs random histories on a simulated disk that loses what was not synced, stops the machine before every step that
they take on it, and starts a server on what is left: every answered write must be there, nothing half done, the store sound. Pushes
and upkeep are among the writes, with the real git program at work. Then has the disk fail from one step after another on, in five
ways, and dawdle in four: writes may be refused by a disk that fails, and nothing else.

  npm run proof -- crash [--cuts N] [--seed S] [--rounds N] [--faults N] [--servers 2]

  --cuts     steps before which the machine is stopped, at least (20000)
  --seed     of the first history (1)
  --rounds   of each history: up to four writes at once (8)
  --faults   every how many steps of a history the disk begins to fail, and every how many tens of them to dawdle (9); 0 for never
  --servers  2: two servers, each with a disk of its own, over a database in memory; either is stopped before each of its steps,
             and both folders must be what the database holds then. No disk fails

Ends with 1 if anything was wrong; what and where is printed with the seed that shows it again.`

/** The share of recovered stores that are written to a real folder for git fsck. */
const GIT_SHARE = 0.002

const { values } = parseArgs({
  options: {
    cuts: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1' },
    rounds: { type: 'string', default: '8' },
    faults: { type: 'string', default: '9' },
    servers: { type: 'string', default: '1' },
    help: { type: 'boolean', default: false },
  },
})

const areTwo = values.servers === '2'

if (values.help) process.stdout.write(`${USAGE}\n`)
else {
  const [cuts = 0, seed = 0, rounds = 0, every = 0] = [
    values.cuts,
    values.seed,
    values.rounds,
    values.faults,
  ].map(Number)
  // What a server does at rest keeps no process alive, and is waited for here.
  const awake = setInterval(() => undefined, 60_000)
  await proveCuts(cuts, seed, rounds)
  if (every > 0 && !areTwo) await proveFaults(every, seed, rounds)
  clearInterval(awake)
}

async function proveCuts(wanted: number, firstSeed: number, rounds: number): Promise<void> {
  const began = Date.now()
  const sums = { cuts: 0, states: 0, twice: 0, answered: 0, checkedByGit: 0, failures: 0 }
  let histories = 0
  for (let seed = firstSeed; sums.cuts < wanted; seed++) {
    const figures = await (areTwo ? cutBoth : cutEverywhere)({ seed, rounds, gitShare: GIT_SHARE })
    histories++
    add(sums, figures)
    tell(figures.failures)
    const seconds = secondsSince(began)
    process.stdout.write(
      `seed ${seed}: ${sums.cuts} of ${wanted} cuts, ${sums.failures} failures, ${seconds} s\n`,
    )
  }
  printTable(areTwo ? 'crash simulation of two servers over a database' : 'crash simulation', [
    ['histories', histories],
    ['writes answered', sums.answered],
    ['cuts', sums.cuts],
    ['different disks left, a server started on each', sums.states],
    ['of these, starts that were cut off themselves', sums.twice],
    ['repositories checked with git fsck --strict', sums.checkedByGit],
    ['failures', sums.failures],
    ['seconds', secondsSince(began)],
  ])
}

async function proveFaults(every: number, seed: number, rounds: number): Promise<void> {
  const began = Date.now()
  const rows: [string, number][] = []
  const sum = (of: (figures: FaultFigures) => number, all: readonly FaultFigures[]): number =>
    all.reduce((total, figures) => total + of(figures), 0)
  const all: FaultFigures[] = []
  for (const fault of [...FAULTS, ...SLOWNESSES]) {
    const isSlow = 'milliseconds' in fault
    const figures = await failEverywhere({ seed, rounds, fault, every: isSlow ? every * 10 : every })
    all.push(figures)
    tell(figures.failures)
    if (isSlow && figures.refused > 0) tell([`${fault.name}: ${figures.refused} writes were refused`])
    const { runs, failures } = figures
    rows.push([`runs in which ${fault.name}`, runs])
    process.stdout.write(
      `${fault.name}: ${runs} runs, ${failures.length} failures, ${secondsSince(began)} s\n`,
    )
  }
  printTable('a disk that fails or dawdles', [
    ...rows,
    ['calls that failed or dawdled', sum(({ failed }) => failed, all)],
    ['writes refused for it (by none that only dawdled)', sum(({ refused }) => refused, all)],
    ['failures', sum(({ failures }) => failures.length, all)],
    ['seconds', secondsSince(began)],
  ])
}

function tell(failures: readonly string[]): void {
  for (const failure of failures) process.stdout.write(`${failure}\n`)
  if (failures.length > 0) process.exitCode = 1
}

function secondsSince(began: number): number {
  return Math.round((Date.now() - began) / 1000)
}

function printTable(what: string, rows: readonly (readonly [string, number])[]): void {
  const lines = rows.map(([name, figure]) => `| ${name} | ${figure} |\n`)
  process.stdout.write(`\n| ${what} | figure |\n|---|---|\n${lines.join('')}\n`)
}

function add(sums: Record<keyof CutFigures, number>, { failures, ...figures }: CutFigures): void {
  sums.cuts += figures.cuts
  sums.states += figures.states
  sums.twice += figures.twice
  sums.answered += figures.answered
  sums.checkedByGit += figures.checkedByGit
  sums.failures += failures.length
}

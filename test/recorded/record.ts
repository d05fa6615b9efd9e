import { writeFileSync } from 'node:fs'
import { coverageOf, coverageReport } from './harness/coverage.ts'
import { differenceFrom, keep, keptSteps, playAll, removeOthers } from './harness/recordings.ts'
import { operationNames } from './harness/operation-names.ts'
import { SCENARIOS } from './scenarios.ts'

/**
 * `npm run record [NAME…]` records what the scenarios answer (those whose name holds one of the words), and prints which operations and
 * refusals the recordings reach. `npm run replay [NAME…]` records nothing and prints what differs.
 */
const [mode, ...words] = process.argv.slice(2)
const wanted = SCENARIOS.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)))
let differences = 0
const began = performance.now()
await playAll(wanted, (played) => {
  const { scenario, recordings, failure, ms } = played
  const difference = differenceFrom(played)
  if (mode === 'record' && failure === undefined) keep(scenario, recordings)
  if (difference !== undefined && (mode !== 'record' || failure !== undefined)) {
    differences++
    process.stdout.write(`${difference}\n\n`)
  } else
    process.stdout.write(
      `${scenario.name}: ${recordings.length} steps, ${Math.round(ms)} ms${difference === undefined ? '' : ', changed'}\n`,
    )
})
if (mode === 'record') {
  if (words.length === 0) removeOthers(SCENARIOS)
  const coverage = coverageOf(keptSteps(), await operationNames())
  const report = coverageReport(coverage)
  const file = process.env['COVERAGE_REPORT']
  if (file === undefined) process.stdout.write(report)
  else writeFileSync(file, report)
}
process.stdout.write(
  `${wanted.length} scenarios in ${Math.round((performance.now() - began) / 1000)} s; ${differences} differ\n`,
)
process.exitCode = differences > 0 ? 1 : 0

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { endServers } from '../../test/support/servers/child-server.ts'
import { indexRound } from './index-file/index-round.ts'
import type { IndexHarm } from './index-file/index-states.ts'

/**
 * `npm run proof -- index`: kills servers in the midst of random histories, and starts others on what a kill or a power cut may leave of `index.db`,
 * and on flipped bytes: every list, query and search has to be as with an index that is made anew. Ends with 1 if one is not, or if a client
 * sees an error.
 */
const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '200' },
    steps: { type: 'string', default: '40' },
    seed: { type: 'string', default: '1' },
  },
})
/** Of each history. */
const HARMS: readonly IndexHarm[] = [
  'killed',
  'power',
  'power',
  'power',
  'power',
  'flipped',
  'flipped',
  'flipped',
  'flipped',
  'flipped',
]
const rounds = Number(options.rounds)
const sum = { states: 0, noticed: 0, unnoticed: 0, problems: 0 }

for (let round = 0; sum.states < rounds; round++) {
  const storeDir = mkdtempSync(join(tmpdir(), 'branchpoint-index-'))
  const seed = Number(options.seed) + round
  const harms = HARMS.slice(0, rounds - sum.states)
  try {
    const finding = await indexRound({ storeDir, seed, steps: Number(options.steps), harms })
    sum.states += harms.length
    sum.noticed += finding.noticed
    sum.unnoticed += finding.unnoticed
    sum.problems += finding.problems.length
    process.stdout.write(`${sum.states} of ${rounds} states, ${sum.problems} problems\n`)
    for (const problem of finding.problems) process.stdout.write(`  ${problem}\n`)
  } finally {
    await endServers()
    rmSync(storeDir, { recursive: true, force: true })
  }
}
process.stdout.write(
  '\n| states | set aside as damaged | flipped, not noticed and answered otherwise | problems |\n|---|---|---|---|\n',
)
process.stdout.write(`| ${sum.states} | ${sum.noticed} | ${sum.unnoticed} | ${sum.problems} |\n`)
if (sum.problems > 0) process.exitCode = 1

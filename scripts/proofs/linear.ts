import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { linearRound } from './linear/linear-round.ts'

/**
 * `npm run proof -- linear`: records what concurrent clients do to a few variants and environments (commits, compare-and-set, deployments,
 * retrieves, pushes) over one and over two server processes, and holds it against git's history: every operation must have happened
 * at one moment between its start and its end. Ends with 1 if one cannot have.
 */
const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '10' },
    clients: { type: 'string', default: '16' },
    pushers: { type: 'string', default: '3' },
  },
})

process.stdout.write(
  '| servers | round | operations | versions | refused | problems |\n|---|---|---|---|---|---|\n',
)
for (const servers of [1, 2]) {
  for (let round = 1; round <= Number(options.rounds); round++) await prove(servers, round)
}

async function prove(servers: number, round: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'branchpoint-linear-'))
  try {
    const { registers, problems } = await linearRound({
      storeDir: join(folder, 'store'),
      folder,
      servers,
      clients: Number(options.clients),
      pushers: Number(options.pushers),
      runFor: Number(options.seconds) * 1000,
    })
    const all = [...registers.values()]
    const operations = all.flatMap((register) => register.operations)
    const versions = all.reduce((sum, register) => sum + register.versions.length, 0)
    const refused = operations.filter(({ kind }) => kind === 'refused').length
    process.stdout.write(
      `| ${servers} | ${round} | ${operations.length} | ${versions} | ${refused} | ${problems.length} |\n`,
    )
    for (const problem of problems.slice(0, 10)) process.stdout.write(`  ${problem}\n`)
    if (problems.length > 0) process.exitCode = 1
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

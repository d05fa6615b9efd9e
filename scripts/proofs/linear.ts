import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { FAULT_NAMES, type FaultName, startLinkedPair } from './linear/database-faults.ts'
import { linearRound } from './linear/linear-round.ts'

/**
 * `npm run proof -- linear`: records what concurrent clients do to a few variants and environments (commits, compare-and-set, deployments,
 * retrieves, pushes) over one and over two server processes, and holds it against git's history: every operation must have happened
 * at one moment between its start and its end. Ends with 1 if one cannot have. With `--engine postgres` the servers share a primary and a
 * synchronous standby, and `--fault` says what goes wrong in the middle (linear/database-faults.ts). A zombie is read stale with
 * `--reads primary`: then it ends with 1, and says what was read.
 */
const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '10' },
    clients: { type: 'string', default: '16' },
    pushers: { type: 'string', default: '3' },
    servers: { type: 'string' },
    engine: { type: 'string', default: 'files' },
    fault: { type: 'string', default: 'none' },
    reads: { type: 'string' },
  },
})

const { fault } = options
if (isFault(fault)) await proveAll(fault)
else {
  process.stderr.write(`--fault ${fault} is none of ${FAULT_NAMES.join(', ')}\n`)
  process.exitCode = 2
}

async function proveAll(name: FaultName): Promise<void> {
  process.stdout.write(
    '| servers | round | operations | versions | refused | answered 503 | problems |\n|---|---|---|---|---|---|---|\n',
  )
  for (const servers of options.servers === undefined ? [1, 2] : [Number(options.servers)]) {
    for (let round = 1; round <= Number(options.rounds); round++) await prove(name, servers, round)
  }
}

async function prove(name: FaultName, servers: number, round: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'branchpoint-linear-'))
  const pair = options.engine === 'postgres' ? await startLinkedPair(servers, name) : undefined
  try {
    const { registers, unavailable, problems } = await linearRound({
      storeDir: join(folder, 'store'),
      ...(pair && { database: (server) => pair.url(server), reads: options.reads, fault: pair.fault }),
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
      `| ${servers} | ${round} | ${operations.length} | ${versions} | ${refused} | ${unavailable} | ${problems.length} |\n`,
    )
    for (const problem of problems.slice(0, 10)) process.stdout.write(`  ${problem}\n`)
    if (problems.length > 0) process.exitCode = 1
  } finally {
    await pair?.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

function isFault(text: string): text is FaultName {
  return FAULT_NAMES.some((name) => name === text)
}

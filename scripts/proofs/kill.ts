import { randomInt } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { databaseRound } from './kill/database-round.ts'
import type { Finding, KillFinding } from './kill/kill-round.ts'
import { killRound } from './kill/kill-round.ts'
import { sharedStoreRound } from './kill/shared-store-round.ts'
import type { SurvivorFinding } from './kill/survivor-round.ts'
import { survivorRound } from './kill/survivor-round.ts'

/**
 * `npm run proof -- kill`: kills real servers in the middle of write loads, alone and beside another one that has to finish what they
 * decided, lets two of them write to one store, and lets git keep house under both. `--rounds N` sets how many servers are killed. With
 * `--engine postgres` it kills servers and primaries of a PostgreSQL pair that three servers share, in turn and together. Ends with 1 if
 * anything that was acknowledged is lost, or if `git fsck --strict` finds fault.
 */
const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '20' },
    seconds: { type: 'string', default: '10' },
    engine: { type: 'string', default: 'files' },
  },
})
const rounds = Number(options.rounds)
const milliseconds = Number(options.seconds) * 1000
const folder = mkdtempSync(join(tmpdir(), 'branchpoint-prove-'))
const rows: { readonly proof: string; readonly acknowledged: number; readonly problems: number }[] = []

try {
  if (options.engine === 'postgres') await proveDatabase()
  else await proveFiles()
} finally {
  rmSync(folder, { recursive: true, force: true })
}
printTable()

async function proveDatabase(): Promise<void> {
  for (const kills of [['server'], ['primary'], ['server', 'primary']] as const) {
    const findings: Finding[] = []
    const what = `kill -9 of ${kills.map((it) => `a ${it}`).join(' and ')} in a write load over three servers and a PostgreSQL pair`
    for (let round = 1; round <= rounds; round++) {
      const killAfter = randomInt(20, 1500)
      const at = join(folder, `database-${round}`)
      const finding = await databaseRound({
        folder: at,
        servers: 3,
        artifacts: 3,
        clients: 12,
        killAfter,
        kills,
      })
      findings.push(finding)
      report(`${what}, round ${round} of ${rounds}, after ${killAfter} ms`, finding)
    }
    keep(`${what}, ${rounds} rounds`, findings)
  }
}

async function proveFiles(): Promise<void> {
  await proveKills()
  await proveSurvivors()
  await proveSharedStore('two servers, one store', [])
  await proveSharedStore('the same under git gc', [['gc', '--quiet']])
  await proveSharedStore('the same under git repack -ad and pack-refs', [
    ['repack', '-a', '-d', '-q'],
    ['pack-refs', '--all'],
  ])
}

async function proveKills(): Promise<void> {
  const findings: KillFinding[] = []
  for (let round = 1; round <= rounds; round++) {
    // Three stores, so that some rounds begin with an empty one and others with what several crashes left.
    const storeDir = join(folder, `kill-${round % 3}`)
    const killAfter = randomInt(20, 1500)
    const finding = await killRound({ storeDir, artifacts: 3, clients: 12, killAfter })
    findings.push(finding)
    report(`kill -9, round ${round} of ${rounds}, after ${killAfter} ms`, finding)
  }
  keep(`kill -9 in a write load, ${rounds} rounds`, findings)
  process.stdout.write(`ready again after ${spread(findings.map(({ restartedIn }) => restartedIn))}\n`)
  process.stdout.write(`a node process that does nothing: ${spread(findings.map(({ floor }) => floor))}\n`)
}

async function proveSurvivors(): Promise<void> {
  const findings: SurvivorFinding[] = []
  for (let round = 1; round <= rounds; round++) {
    const storeDir = join(folder, `survivor-${round % 3}`)
    const killAfter = randomInt(20, 1500)
    const finding = await survivorRound({ storeDir, artifacts: 3, clients: 12, killAfter })
    findings.push(finding)
    report(`kill -9 of one of two, round ${round} of ${rounds}, after ${killAfter} ms`, finding)
  }
  keep(`kill -9 of one of two servers, and no start, ${rounds} rounds`, findings)
  process.stdout.write(
    `finished by the other after ${spread(findings.map(({ convergedIn }) => convergedIn))}\n`,
  )
}

function spread(times: readonly number[]): string {
  const sorted = times.map((time) => Math.round(time)).sort((a, b) => a - b)
  const at = (part: number): number | undefined => sorted[Math.floor(part * (sorted.length - 1))]
  return `${at(0)} ms at best, ${at(0.5)} in the middle, ${at(0.9)} in nine of ten, ${at(1)} at worst`
}

async function proveSharedStore(proof: string, upkeep: readonly (readonly string[])[]): Promise<void> {
  const storeDir = join(folder, `shared-${rows.length}`)
  const finding = await sharedStoreRound({ storeDir, clients: 16, runFor: milliseconds, upkeep })
  report(proof, finding)
  keep(proof, [finding])
}

function report(what: string, { acknowledged, problems }: Finding): void {
  process.stdout.write(`${what}: ${acknowledged} writes acknowledged, ${problems.length} problems\n`)
  for (const problem of problems.slice(0, 10)) process.stdout.write(`  ${problem}\n`)
}

function keep(proof: string, findings: readonly Finding[]): void {
  rows.push({
    proof,
    acknowledged: findings.reduce((sum, { acknowledged }) => sum + acknowledged, 0),
    problems: findings.reduce((sum, { problems }) => sum + problems.length, 0),
  })
}

function printTable(): void {
  process.stdout.write('\n| proof | writes acknowledged | problems |\n|---|---|---|\n')
  for (const { proof, acknowledged, problems } of rows) {
    process.stdout.write(`| ${proof} | ${acknowledged} | ${problems} |\n`)
  }
  if (rows.some(({ problems }) => problems > 0)) process.exitCode = 1
}

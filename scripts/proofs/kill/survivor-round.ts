import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { startBranchpoint } from '../../../test/support/servers/child-server.ts'
import { checkJoint } from './check-joint.ts'
import { checkLedger } from './check-ledger.ts'
import { checkRepositories } from './check-repositories.ts'
import type { Finding, KillRound } from './kill-round.ts'
import { acknowledgedIn, emptyLedger } from './ledger.ts'
import { WriteLoad } from './write-load.ts'

/** What a killed server left to another one, and how long that took to finish it, in milliseconds. */
export interface SurvivorFinding extends Finding {
  readonly convergedIn: number
}

/** Seconds in which the survivor has to have finished what the other decided. */
const PATIENCE = 30

/**
 * Kills one of two servers of a store in the middle of a write load over both, starts none, and asks the other for everything that was
 * acknowledged, and whether what was to happen together did. The store may be one that earlier rounds have left.
 */
export async function survivorRound({
  storeDir,
  artifacts,
  clients,
  killAfter,
}: KillRound): Promise<SurvivorFinding> {
  const ledger = emptyLedger()
  const survivor = await startBranchpoint(storeDir)
  try {
    const doomed = await startBranchpoint(storeDir)
    const load = new WriteLoad([doomed.url, survivor.url], ledger)
    try {
      await load.begin({ artifacts, clients })
      await pause(killAfter)
    } finally {
      load.expectFailures()
      await doomed.kill()
    }
    const killed = performance.now()
    await load.end()
    const left = (): string[] => journalsOf(storeDir, doomed.pid)
    while (left().length > 0 && performance.now() - killed < PATIENCE * 1000) await pause(20)
    const convergedIn = performance.now() - killed
    const problems = left().map((name) => `${name} was left to the next start`)
    problems.push(...ledger.failures, ...(await checkJoint(survivor.url, ledger)))
    problems.push(...(await checkLedger(survivor.url, ledger)))
    problems.push(...(await swept(storeDir)))
    if (problems.length > 0) problems.push(...survivor.errors)
    return { acknowledged: acknowledgedIn(ledger), problems, convergedIn }
  } finally {
    await survivor.stop()
  }
}

function journalsOf(storeDir: string, pid: number): string[] {
  return readdirSync(join(storeDir, '.journal')).filter((name) => name.split('.')[2] === `${pid}`)
}

/** What is still wrong with the repositories once the survivor has had its time to sweep them, at rest. */
async function swept(storeDir: string): Promise<string[]> {
  const until = Date.now() + PATIENCE * 1000
  for (;;) {
    const problems = await checkRepositories(storeDir)
    if (problems.length === 0 || Date.now() > until) return problems
    await pause(200)
  }
}

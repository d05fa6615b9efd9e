import { setTimeout as pause } from 'node:timers/promises'
import { startBranchpoint } from '../bench/child-server.ts'
import { checkLedger } from './check-ledger.ts'
import { checkRepositories } from './check-repositories.ts'
import { emptyLedger } from './ledger.ts'
import { WriteLoad } from './write-load.ts'

export interface KillRound {
  readonly storeDir: string
  readonly artifacts: number
  readonly clients: number
  /** How long the load runs before the process is killed, in milliseconds. */
  readonly killAfter: number
}

/** What a proof found: how much was acknowledged, and everything that was wrong. */
export interface Finding {
  readonly acknowledged: number
  readonly problems: readonly string[]
}

/**
 * Kills a server in the middle of a write load, starts it again, and asks it for everything that was acknowledged. The
 * store may be one that earlier rounds have left.
 */
export async function killRound({ storeDir, artifacts, clients, killAfter }: KillRound): Promise<Finding> {
  const ledger = emptyLedger()
  const first = await startBranchpoint(storeDir)
  const load = new WriteLoad([first.url], ledger)
  try {
    await load.begin({ artifacts, clients })
    await pause(killAfter)
  } finally {
    load.expectFailures()
    await first.kill()
  }
  await load.end()
  const second = await startBranchpoint(storeDir)
  try {
    const problems = [...ledger.failures, ...(await checkLedger(second.url, ledger))]
    problems.push(...(await checkRepositories(storeDir)))
    return { acknowledged: ledger.revisions.size, problems }
  } finally {
    await second.stop()
  }
}

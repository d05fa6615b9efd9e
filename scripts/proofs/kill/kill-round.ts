import { execFile } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { startBranchpoint } from '../../../test/support/servers/child-server.ts'
import { checkJoint } from './check-joint.ts'
import { checkLedger } from './check-ledger.ts'
import { checkRepositories } from './check-repositories.ts'
import { acknowledgedIn, emptyLedger } from './ledger.ts'
import { WriteLoad } from './write-load.ts'

const run = promisify(execFile)

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

/** What a killed server left, and how long the next one took to be ready, in milliseconds. */
export interface KillFinding extends Finding {
  readonly restartedIn: number
  /** How long a node process that does nothing takes from start to end just then. */
  readonly floor: number
}

/**
 * Kills a server in the middle of a write load, starts it again, and asks it for everything that was acknowledged. The
 * store may be one that earlier rounds have left.
 */
export async function killRound({
  storeDir,
  artifacts,
  clients,
  killAfter,
}: KillRound): Promise<KillFinding> {
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
  const started = performance.now()
  await run(process.execPath, ['-e', '0'])
  const floor = performance.now() - started
  const second = await startBranchpoint(storeDir)
  try {
    const problems = [...ledger.failures, ...(await checkLedger(second.url, ledger))]
    problems.push(...(await checkJoint(second.url, ledger)))
    problems.push(...(await checkRepositories(storeDir)))
    return { acknowledged: acknowledgedIn(ledger), problems, restartedIn: second.startedIn, floor }
  } finally {
    await second.stop()
  }
}

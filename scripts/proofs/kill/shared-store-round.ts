import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { startBranchpoint } from '../../../test/support/servers/child-server.ts'
import { checkLedger } from './check-ledger.ts'
import { checkRepositories } from './check-repositories.ts'
import type { Finding } from './kill-round.ts'
import { acknowledgedIn, emptyLedger } from './ledger.ts'
import { WriteLoad } from './write-load.ts'

const run = promisify(execFile)

export interface SharedStoreRound {
  readonly storeDir: string
  readonly clients: number
  /** How long the load runs, in milliseconds. */
  readonly runFor: number
  /** What git does to the repositories meanwhile, again and again: arguments of `git`. */
  readonly upkeep: readonly (readonly string[])[]
}

/**
 * Two server processes write to one store while git keeps house in it; afterwards each of them is asked for everything that
 * either acknowledged.
 */
export async function sharedStoreRound({
  storeDir,
  clients,
  runFor,
  upkeep,
}: SharedStoreRound): Promise<Finding> {
  const ledger = emptyLedger()
  const servers = [await startBranchpoint(storeDir), await startBranchpoint(storeDir)]
  const urls = servers.map(({ url }) => url)
  try {
    const load = new WriteLoad(urls, ledger)
    await load.begin({ artifacts: 4, clients })
    const until = Date.now() + runFor
    while (Date.now() < until) {
      if (upkeep.length === 0) await pause(50)
      else await keepHouse(join(storeDir, 'default', 'workflows'), upkeep, until)
    }
    await load.end()
    const problems = [...ledger.failures]
    for (const url of urls) problems.push(...(await checkLedger(url, ledger)))
    problems.push(...(await checkRepositories(storeDir)))
    return { acknowledged: acknowledgedIn(ledger), problems }
  } finally {
    await Promise.all(servers.map((server) => server.stop()))
  }
}

async function keepHouse(folder: string, upkeep: SharedStoreRound['upkeep'], until: number): Promise<void> {
  for (const name of readdirSync(folder).filter((it) => it.endsWith('.git') && !it.startsWith('.'))) {
    for (const args of upkeep) {
      if (Date.now() > until) return
      // git may find a pack gone that the server rolled up, or a ref locked, and give up; it must only never do damage.
      await run('git', ['-C', join(folder, name), ...args]).catch(() => undefined)
    }
  }
}

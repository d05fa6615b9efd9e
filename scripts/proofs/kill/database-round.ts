import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type ChildServer, startReady } from '../../../test/support/servers/child-server.ts'
import { git } from '../../../test/support/git/git-program.ts'
import { startPair } from '../../../test/support/postgres/postgres.ts'
import { ask } from './ask.ts'
import { checkJoint } from './check-joint.ts'
import { checkLedger } from './check-ledger.ts'
import { checkRepositories } from './check-repositories.ts'
import type { Finding } from './kill-round.ts'
import { acknowledgedIn, emptyLedger } from './ledger.ts'
import { repeatKeyed } from './repeat-keyed.ts'
import { WriteLoad } from './write-load.ts'

export interface DatabaseRound {
  /** An empty folder. */
  readonly folder: string
  readonly servers: number
  readonly artifacts: number
  readonly clients: number
  /** Milliseconds from the beginning of the load until something is killed. */
  readonly killAfter: number
  /** What ends with SIGKILL; of the primary the standby takes the place. */
  readonly kills: readonly ('server' | 'primary')[]
}

/**
 * Kills one of several servers over a PostgreSQL pair, or the primary, or both, in the middle of a write load; then asks a new server, whose
 * folder was empty, for everything that was acknowledged, and holds the folders of all servers against each other and against git.
 */
export async function databaseRound(round: DatabaseRound): Promise<Finding> {
  const { folder, artifacts, clients, killAfter, kills } = round
  const pair = await startPair()
  const started: ChildServer[] = []
  const start = async (name: string): Promise<ChildServer> => {
    const cacheDir = join(folder, name)
    const env = { STORE: pair.url('postgres'), CACHE_DIR: cacheDir }
    const { service } = await startReady(cacheDir, env)
    started.push(service)
    return service
  }
  const ledger = emptyLedger()
  try {
    const names = Array.from({ length: round.servers }, (_, number) => `server-${number + 1}`)
    const [doomed, ...others] = await Promise.all(names.map(start))
    if (!doomed) throw new Error('a round needs a server')
    const load = new WriteLoad(
      [doomed, ...others].map(({ url }) => url),
      ledger,
    )
    try {
      await load.begin({ artifacts, clients })
      await pause(killAfter)
    } finally {
      load.expectFailures()
      if (kills.includes('server')) await doomed.kill()
      if (kills.includes('primary')) {
        await pair.primary.kill()
        await pair.promote()
      }
    }
    await load.end()
    const restarted = kills.includes('server') ? await start(names[0] ?? '') : doomed
    const fresh = await start('new')
    const problems = [...ledger.failures, ...(await checkJoint(fresh.url, ledger))]
    problems.push(...(await repeatKeyed(fresh.url, ledger)))
    problems.push(...(await checkLedger(fresh.url, ledger)))
    // Each takes in what the others wrote last.
    for (const { url } of [restarted, ...others]) await ask(url, 'POST', '/workflows/query', {})
    const folders = [...names, 'new'].map((name) => join(folder, name))
    problems.push(...differencesOf(folders))
    for (const one of folders) problems.push(...(await checkRepositories(one)))
    if (problems.length > 0) problems.push(...started.flatMap(({ errors }) => errors))
    return { acknowledged: acknowledgedIn(ledger), problems }
  } finally {
    await Promise.all(started.map((server) => server.stop()))
    await pair.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Where folders do not have the same repositories with the same refs. */
function differencesOf(folders: readonly string[]): string[] {
  const [first = new Map<string, string>(), ...others] = folders.map(refsIn)
  return others.flatMap((refs, number) =>
    [...new Set([...first.keys(), ...refs.keys()])]
      .filter((path) => first.get(path) !== refs.get(path))
      .map((path) => `${path} differs between ${folders[0]} and ${folders[number + 1]}`),
  )
}

/** What `git for-each-ref` says of each repository of a folder, by its path. */
function refsIn(folder: string): Map<string, string> {
  const refs = new Map<string, string>()
  const project = join(folder, 'default')
  for (const family of ['workflows', 'testsets', 'environments', 'queries']) {
    for (const name of namesIn(join(project, family)))
      refs.set(`${family}/${name}`, git(join(project, family, name), ['for-each-ref']))
  }
  return refs
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith('.git') && !name.startsWith('.'))
  } catch {
    return [] // nothing of the family was made
  }
}

import { relative } from 'node:path'
import { parseArgs } from 'node:util'
import { ConfigError, readConfig } from '../src/config.ts'
import { Refusal } from '../src/errors.ts'
import type { Maintained } from '../src/git/maintenance/maintain.ts'
import { maintain } from '../src/git/maintenance/maintain.ts'
import { storeRepositories } from '../src/git/repository-path.ts'
import { workflowSurfaces } from '../src/handlers/workflows.ts'
import { surfacesOf } from '../src/resources/surfaces.ts'
import { resourceSettings } from '../src/server/resource-settings.ts'
import { nodeFs } from '../src/storage/node-fs.ts'
import { UsageError } from './command/usage-error.ts'
import { showProgress } from './testset/show-progress.ts'

const USAGE = `Repacks every repository and packs its refs, as servers do in the background where it has become worth it.

  npm run upkeep -- [--store DIR]

  --store  the folder of the store; STORE_DIR (./store unless set) unless given

Servers may run on the store meanwhile. Nothing is ever pruned. A line for every repository that there was something to do in.`

const stop = new AbortController()
process.once('SIGINT', () => stop.abort())
process.once('SIGTERM', () => stop.abort())

try {
  process.exitCode = await run(process.argv.slice(2))
} catch (error) {
  const isExpected = error instanceof Refusal || error instanceof ConfigError || error instanceof UsageError
  if (!isExpected) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}

/** Answers the exit code. */
async function run(args: readonly string[]): Promise<number> {
  const { store, help = false } = readArguments(args)
  if (help) {
    process.stdout.write(`${USAGE}\n`)
    return 0
  }
  const config = readConfig(process.env)
  const dir = store ?? config.storeDir
  if (!nodeFs.stat(`${dir}/format`))
    throw new Refusal('storage_unavailable', `There is no store at ${dir}; name its folder with --store.`)
  const folders = new Set(
    surfacesOf(workflowSurfaces, resourceSettings(config)).map(({ family }) => family.folder),
  )
  const repositories = storeRepositories(nodeFs, dir, [...folders])
  let done = 0
  let problems = 0
  const stopShowing = showProgress(process.stderr, () => `${done} of ${repositories.length} repositories`)
  try {
    for (const gitdir of repositories) {
      const upkept = await maintain(nodeFs, gitdir, { anyway: true, signal: stop.signal })
      if (stop.signal.aborted) return 130
      done++
      if (upkept) process.stdout.write(`${describe(relative(dir, gitdir), upkept)}\n`)
      if (upkept?.problem !== undefined) problems++
    }
  } finally {
    stopShowing()
  }
  process.stdout.write(
    `${repositories.length} repositories${problems > 0 ? `, ${problems} not finished` : ''}\n`,
  )
  return problems > 0 ? 1 : 0
}

function describe(repository: string, { before, after, problem }: Maintained): string {
  const changes = (
    [
      ['packs', before.packs, after.packs],
      ['loose objects', before.looseObjects, after.looseObjects],
      ['loose refs', before.looseRefs, after.looseRefs],
      ['KB of packs', kilobytes(before.packedBytes), kilobytes(after.packedBytes)],
    ] as const
  )
    .filter(([, was, is]) => was !== is)
    .map(([what, was, is]) => `${what} ${was} → ${is}`)
  return [repository, ...changes, ...(problem === undefined ? [] : [`not finished: ${problem}`])].join('  ')
}

function kilobytes(bytes: number): number {
  return Math.ceil(bytes / 1024)
}

function readArguments(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: { store: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
    }).values
  } catch (error) {
    throw new UsageError((error as Error).message, USAGE) // parseArgs throws nothing but TypeErrors that say what is wrong
  }
}

import { relative } from 'node:path'
import { readConfig } from '../../config.ts'
import { Refusal } from '../../errors.ts'
import { type Maintained, maintain } from '../../git/maintenance.ts'
import { storeRepositories } from '../../git/store.ts'
import { workflowSurfaces } from '../../run/handlers.ts'
import { surfacesOf } from '../../registry/families.ts'
import { resourceSettings } from '../../server/resource-settings.ts'
import { announceProcess, nodeFs } from '../../storage/files.ts'
import type { Command, Shell } from '../command/command.ts'
import { readArguments } from '../command/read-arguments.ts'
import { VERBS } from '../command/verbs.ts'
import { showProgress } from '../command/show-progress.ts'

const USAGE = `Repacks every repository and packs its refs, as servers do in the background where it has become worth it.

  branchpoint maintain [--store DIR]

  --store  the folder of the store; STORE_DIR (./store unless set) unless given. Where STORE is a database: CACHE_DIR,
           the copy of this machine's server; the others have theirs

Servers may run on the store meanwhile. Nothing is ever pruned. A line for every repository that there was something to do in.

Example:
  branchpoint maintain --store ./store`

export const maintainCommand: Command = {
  usage: USAGE,
  stopped: () => 'Stopped; what was repacked is whole.',
  run,
}

async function run(
  args: readonly string[],
  { environment, print, progress, signal }: Shell,
): Promise<number> {
  const { values } = readArguments(args, VERBS.maintain.options, { usage: USAGE, takesWords: false })
  const config = readConfig(environment)
  const dir = values.store ?? (config.store === undefined ? config.storeDir : config.cacheDir)
  if (!nodeFs.stat(`${dir}/format`))
    throw new Refusal('storage_unavailable', `There is no store at ${dir}; name its folder with --store.`)
  const folders = new Set(
    surfacesOf(workflowSurfaces, resourceSettings(config)).map(({ family }) => family.folder),
  )
  const repositories = storeRepositories(nodeFs, dir, [...folders])
  let done = 0
  let problems = 0
  const liveness = await announceProcess(nodeFs, dir)
  const stopShowing = showProgress(progress, () => `${done} of ${repositories.length} repositories`)
  try {
    for (const gitdir of repositories) {
      const upkept = await maintain(nodeFs, gitdir, { anyway: true, signal })
      signal.throwIfAborted()
      done++
      if (upkept) print(describe(relative(dir, gitdir), upkept))
      if (upkept?.problem !== undefined) problems++
    }
  } finally {
    stopShowing()
    liveness.release()
  }
  print(`${repositories.length} repositories${problems > 0 ? `, ${problems} not finished` : ''}`)
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

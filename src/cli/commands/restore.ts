import { COMMAND } from '../../command-name.ts'
import { resolve } from 'node:path'
import { checkProjectName, DEFAULT_PROJECT } from '../../access/project-name.ts'
import { readConfig } from '../../config.ts'
import { Refusal } from '../../errors.ts'
import { readAllRefs } from '../../git/refs/list-refs.ts'
import { nodeFs } from '../../storage/node-fs.ts'
import type { Command } from '../command/command.ts'
import { readArguments } from '../command/read-arguments.ts'
import { chosenServer, withUrl } from '../command/chosen-server.ts'
import { UsageError } from '../command/usage-error.ts'
import { VERBS } from '../command/verbs.ts'
import { counted } from './backup/report/counted.ts'
import { doorTo } from './backup/ends/door.ts'
import { familiesOf } from './backup/families-of.ts'
import { followAll } from './backup/follow-all.ts'
import { httpTarget } from './backup/ends/http-target.ts'
import { withoutKept } from './backup/kept-refs.ts'
import { localTarget } from './backup/ends/local-target.ts'
import type { Manifest } from './backup/manifest.ts'
import { readManifest } from './backup/manifest.ts'
import { mirrorsIn } from './backup/mirrors-in.ts'
import type { Report } from './backup/report/backup-report.ts'
import { printReport } from './backup/report/print-report.ts'
import type { RepositoryName } from './backup/repository-name.ts'
import { pathOfName } from './backup/repository-name.ts'
import { restoreState } from './backup/state.ts'
import type { BackupSurroundings } from './backup/surroundings.ts'
import type { Target } from './backup/ends/target.ts'

const RESTORE_USAGE = `branchpoint restore --from DIR [--store DIR | --url [URL] [--key KEY]] [--project PROJECT] [--state]

  Brings every repository of a backup into a store: ids, versions, dates, archived states, deployments, all as they were.
  What is there and the same is left alone, so a run that was stopped can be run again. Servers may be using the store.

  --from     the folder of the backup
  --store    the store's folder, empty or new; STORE_DIR (./store unless set) unless given
  --to       a PostgreSQL database in place of a folder, postgres://user@host/database; STORE unless given
  --url      a server in place of a folder, over HTTP; the one in BRANCHPOINT_URL where no address follows
  --key      an API key with the scope admin to send it with, BRANCHPOINT_KEY unless given; a key is of one project
  --project  this project only; with --url, which of the backup's goes there ("${DEFAULT_PROJECT}" unless given)

  --state    keys, secrets, webhooks and evaluations, too, where the backup was made with --state: keys that were revoked
             since open the store again. Not with --url

  A repository that is there with another content is refused by name, but for environments that a server has made on
  its first start. What only the backup has (refs/backup, .gone) stays there. Without --state no API keys come: make new
  ones with branchpoint keys. Exit code 1 means that something could not be restored; the rest was.`

/** The command `restore`. */
export const restoreCommand: Command = {
  usage: RESTORE_USAGE,
  needsWords: true,
  stopped: () => 'Stopped; what is restored is whole, and the next run goes on from there.',
  run: async (args, shell) =>
    printReport(await runRestore(args, { ...shell, config: readConfig(shell.environment) }), shell),
}

/** Runs `restore` with these arguments. */
export async function runRestore(args: readonly string[], around: BackupSurroundings): Promise<Report> {
  const line = withUrl(args, around.environment)
  const { values: options } = readArguments(line, VERBS.restore.options, {
    usage: RESTORE_USAGE,
    takesWords: false,
  })
  if (options.project !== undefined) checkProjectName(options.project)
  const { from, to, store: storeDir = around.config.storeDir, url, key } = options
  if (from === undefined) throw new UsageError('--from DIR is missing.', RESTORE_USAGE)
  if (url !== undefined && options.state)
    throw new UsageError('--state is for a folder or a database: no server takes it.', RESTORE_USAGE)
  if (url === undefined && key !== undefined)
    throw new UsageError('--key is for a server: give --url, too.', RESTORE_USAGE)
  if ([url, options.store, to].filter((it) => it !== undefined).length > 1)
    throw new UsageError('--store, --to and --url are different targets; give one.', RESTORE_USAGE)
  const server = url === undefined ? undefined : chosenServer({ url, key }, around.environment, RESTORE_USAGE)
  const project = options.project ?? (url === undefined ? undefined : DEFAULT_PROJECT)
  const dir = resolve(from)
  const manifest = readManifest(dir)
  if (!manifest)
    throw new Refusal('storage_unavailable', `There is no backup at ${dir}; name its folder with --from.`)
  const store = to ?? (options.store === undefined ? around.config.store : undefined)
  const config = { ...around.config, storeDir: resolve(storeDir), store }
  const families = familiesOf(config).map(({ folder }) => folder)
  const mirrors = mirrorsIn(dir, families).filter((name) => (project ?? name.project) === name.project)
  if (project !== undefined && mirrors.length === 0)
    throw new Refusal('artifact_not_found', `The backup at ${dir} has no project "${project}".`)
  const projects = [...new Set(mirrors.map((name) => name.project))]
  const target = !server
    ? await localTarget(config, projects, around.signal)
    : httpTarget(doorTo(server.url, server.key, around.signal))
  try {
    const report = await restore(dir, mirrors, families[0] ?? '', target, around)
    const state = options.state && target.state ? await restoreState(dir, target.state, projects) : undefined
    const rest = state
      ? `${state.restored} files of keys, secrets, webhooks and evaluations restored, ${state.there} there already. Traces are not in a backup.`
      : KEYS
    return {
      lines: [...warnings(manifest), ...report.lines, rest],
      failures: [...report.failures, ...(state?.failures ?? [])],
    }
  } finally {
    await target.close()
  }
}

async function restore(
  dir: string,
  repositories: readonly RepositoryName[],
  first: string,
  target: Target,
  { progress, signal }: BackupSurroundings,
): Promise<Report> {
  const began = performance.now()
  const changes = { restored: 0, replaced: 0, there: 0 }
  const failures = await followAll({
    repositories,
    first,
    progress,
    signal,
    work: async (name) => {
      const mirror = `${dir}/${pathOfName(name)}`
      const change = await target.restore(name, mirror, withoutKept(readAllRefs(nodeFs, mirror)))
      changes[change]++
      return change !== 'there'
    },
  })
  for (const failure of await target.check()) failures.push(failure)
  const seconds = ((performance.now() - began) / 1000).toFixed(1)
  const done = `Restored ${dir} to ${target.name}: ${counted(repositories.length)}, ${changes.restored} restored, ${changes.replaced} in place of a seeded environment, ${changes.there} there already, ${failures.length} failed, ${seconds} s`
  return { lines: [done], failures: failures.sort() }
}

const KEYS = `API keys, secrets, webhooks and the logs of evaluations were not restored (--state); make new keys with ${COMMAND} keys create.`

function warnings({ finished_at, failed }: Manifest): string[] {
  if (finished_at === null) return ['The backup was never finished: what it has is restored.']
  return failed === 0
    ? []
    : [`The last run of the backup failed for ${counted(failed)}: what it has of them is restored.`]
}

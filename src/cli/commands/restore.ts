import { COMMAND } from '../../command-name.ts'
import { resolve } from 'node:path'
import { checkProjectName, DEFAULT_PROJECT } from '../../access/keys.ts'
import { readConfig, type Config } from '../../config.ts'
import { Refusal } from '../../errors.ts'
import { readAllRefs, type AllRefs } from '../../git/refs.ts'
import { nodeFs } from '../../storage/files.ts'
import type { Command } from '../command/command.ts'
import { readArguments } from '../command/read-arguments.ts'
import { chosenServer, withUrl } from '../command/chosen-server.ts'
import { UsageError } from '../command/usage-error.ts'
import { VERBS } from '../command/verbs.ts'
import { counted } from '../backup/report/counted.ts'
import { doorTo, type Door, ask } from '../backup/ends/door.ts'
import { familiesOf } from '../backup/families-of.ts'
import { followAll } from '../backup/follow-all.ts'
import { withoutKept, KEPT } from '../backup/kept-refs.ts'
import { type Manifest, readManifest } from '../backup/manifest.ts'
import { mirrorsIn } from '../backup/mirrors-in.ts'
import type { Report } from '../backup/report/backup-report.ts'
import { printReport } from '../backup/report/print-report.ts'
import { type RepositoryName, pathOfName } from '../backup/repository-name.ts'
import { restoreState, type StateFolder } from '../backup/state.ts'
import type { BackupSurroundings } from '../backup/surroundings.ts'
import { Readable } from 'node:stream'
import { startGit, GitFailure, gitEnvironment } from '../../git/program.ts'
import { differenceOf, restoreArtifact, type Restored } from '../../registry/artifacts.ts'
import { remoteRefs } from '../backup/ends/remote-refs.ts'
import { openRegistry, Registry } from '../../registry/registries.ts'
import { openStore } from '../command/open-store.ts'

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
  ones with branchpoint keys. Exit code 1 means that something could not be restored; the rest was.

Example:
  branchpoint restore --from ../backup --store ../restored`

export const restoreCommand: Command = {
  usage: RESTORE_USAGE,
  needsWords: true,
  stopped: () => 'Stopped; what is restored is whole, and the next run goes on from there.',
  run: async (args, shell) =>
    printReport(await runRestore(args, { ...shell, config: readConfig(shell.environment) }), shell),
}

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

/** A project behind a server, with a key of the scope admin. Each repository is sent as a git bundle. */
function httpTarget(door: Door): Target {
  const restore: Target['restore'] = async ({ family, slug }, mirror, refs) => {
    const path = `/git/${family}/${encodeURIComponent(slug)}.git`
    const there = await refsThere(door, path)
    if (there && differenceOf(there, refs) === undefined) return 'there'
    const head = encodeURIComponent(refs.head.replace(/^ref: /, ''))
    const { output, ended } = startGit({
      args: [`--git-dir=${mirror}`, 'bundle', 'create', '--quiet', '-', `--exclude=${KEPT}*`, '--all'],
      env: gitEnvironment(),
      signal: door.signal,
    })
    // If git fails, its error is more useful than the server's complaint about an incomplete bundle.
    const [sent, bundled] = await Promise.allSettled([
      ask(door, 'PUT', `${path}?head=${head}`, Readable.toWeb(output) as ReadableStream),
      ended,
    ])
    if (bundled.status === 'fulfilled' && bundled.value.code !== 0)
      throw new GitFailure(bundled.value.complaint, bundled.value.code)
    if (sent.status === 'rejected') throw sent.reason
    return (sent.value as { outcome: 'restored' | 'replaced' | 'there' }).outcome // answered by our own server
  }
  return {
    name: `the server at ${door.base}`,
    restore,
    check: async () => [],
    close: async () => undefined,
  }
}

async function refsThere(door: Door, path: string): Promise<AllRefs | undefined> {
  try {
    return await remoteRefs(`${door.base}${path}`, door)
  } catch (error) {
    if (error instanceof Refusal && error.code === 'artifact_not_found') return undefined
    throw error
  }
}

/** A store in a folder, created if absent, or in a database. Servers may be using it. */
async function localTarget(
  config: Config,
  projects: readonly string[],
  signal: AbortSignal,
): Promise<Target> {
  const { store, dir, name, close } = await openStore(config)
  const families = familiesOf(config)
  const settings = {
    servicesBase: '',
    now: () => new Date(),
    limits: {
      maxBytes: config.maxBodyBytes,
      maxDocumentBytes: config.maxDocumentBytes,
      maxValues: config.maxBodyValues,
    },
  }
  const registries = new Map<string, Promise<Registry>>()
  const registryOf = async (project: string): Promise<Registry> => {
    const registry = new Registry(await store.project(project), families, settings)
    await registry.index.load()
    return registry
  }
  const restore: Target['restore'] = async ({ project, family, slug }, url, refs) => {
    const loading = registries.get(project) ?? registryOf(project)
    registries.set(project, loading)
    const registry = await loading
    const found = registry.families.find(({ folder }) => folder === family)
    if (!found) throw new Error(`there is no family ${family}`)
    const limits = { maxBlobBytes: config.pushMaxBlobBytes }
    return restoreArtifact(registry, { family: found, slug, refs, source: { url }, limits, signal })
  }
  const check = async (): Promise<string[]> => {
    const found: string[] = []
    for (const project of projects) {
      // Loads the project as a server does, which also updates the mirror refs of environments.
      const open = await openRegistry(await store.project(project), families, settings)
      await open.close()
      for (const { repository, reason } of open.registry.index.problems())
        found.push(`${project}/${repository}: it would not be served: ${reason}`)
    }
    return found
  }
  return { name, state: { fs: store.fs, dir }, restore, check, close }
}

/** Where a backup is restored to: a store on this machine, or a project of a server. */
interface Target {
  /** Its name in the report. */
  readonly name: string
  /** Keys, secrets and webhooks; absent for a server, which does not accept them. */
  readonly state?: StateFolder
  /** Restores one repository from its mirror, with these refs. */
  restore(name: RepositoryName, mirror: string, refs: AllRefs): Promise<Restored>
  /** Called at the end; answers a sentence for each repository that would not be served. */
  check(): Promise<string[]>
  close(): Promise<void>
}

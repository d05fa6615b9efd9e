import { resolve, dirname } from 'node:path'
import { checkProjectName, DEFAULT_PROJECT, isProjectName } from '../../access/keys.ts'
import { readConfig, type Config } from '../../config.ts'
import { Refusal } from '../../errors.ts'
import { holdingLock, nodeFs } from '../../storage/files.ts'
import type { Command } from '../command/command.ts'
import { readArguments } from '../command/read-arguments.ts'
import { chosenServer, withUrl } from '../command/chosen-server.ts'
import { UsageError } from '../command/usage-error.ts'
import { VERBS } from '../command/verbs.ts'
import { backUpRepository } from '../backup/back-up-repository.ts'
import { counted } from '../backup/report/counted.ts'
import { doorTo, type Door, ask } from '../backup/ends/door.ts'
import { familiesOf } from '../backup/families-of.ts'
import { followAll } from '../backup/follow-all.ts'
import { countsOf, readManifest, writeManifest } from '../backup/manifest.ts'
import { mirrorsIn } from '../backup/mirrors-in.ts'
import type { Report } from '../backup/report/backup-report.ts'
import { printReport } from '../backup/report/print-report.ts'
import { nameOf, type RepositoryName, pathOfName } from '../backup/repository-name.ts'
import { backUpState } from '../backup/state.ts'
import type { Source, SourceRepository } from '../backup/ends/source.ts'
import type { BackupSurroundings } from '../backup/surroundings.ts'
import { readAllRefs } from '../../git/refs.ts'
import { assertServable } from '../../git/store.ts'
import { openStore } from '../command/open-store.ts'
import { z } from 'zod'
import { slugProblem } from '../../registry/artifacts.ts'
import { remoteRefs } from '../backup/ends/remote-refs.ts'

const BACKUP_USAGE = `branchpoint backup --to DIR [--store DIR | --url [URL] [--key KEY]] [--project PROJECT] [--state]

  Mirrors every repository of a store, all refs of each, into a folder; run again, it fetches what has changed since.
  Servers may be using the store. A run that is stopped or killed leaves whole mirrors, and the next one goes on.

  --to       the folder of the backup; a new or an empty one begins it
  --from     a PostgreSQL database in place of a folder, postgres://user@host/database; STORE unless given
  --store    the store's folder; STORE_DIR (./store unless set) unless given
  --url      a server in place of a folder, over HTTP; the one in BRANCHPOINT_URL where no address follows
  --key      the API key to ask it with, BRANCHPOINT_KEY unless given; a key is of one project
  --project  this project only; with --url, what the backup calls the key's project ("${DEFAULT_PROJECT}" unless given)

  --state    keys, secrets, webhooks and evaluations, too, as they are now: what opens the service, so keep the folder as
             you keep keys. Not with --url

  What was rewritten or removed in the store stays in the backup, and the report says where.
  Exit code 1 means that some repository could not be backed up; the others were.

Example:
  branchpoint backup --to ../backup`

export const backupCommand: Command = {
  usage: BACKUP_USAGE,
  needsWords: true,
  stopped: () => 'Stopped; what is mirrored is whole, and the next run goes on from there.',
  run: async (args, shell) =>
    printReport(await runBackup(args, { ...shell, config: readConfig(shell.environment) }), shell),
}

export async function runBackup(args: readonly string[], around: BackupSurroundings): Promise<Report> {
  const line = withUrl(args, around.environment)
  const { values: options } = readArguments(line, VERBS.backup.options, {
    usage: BACKUP_USAGE,
    takesWords: false,
  })
  if (options.project !== undefined) checkProjectName(options.project)
  const { to, from, store: storeDir = around.config.storeDir, url, key, project } = options
  if (to === undefined) throw new UsageError('--to DIR is missing.', BACKUP_USAGE)
  if (url !== undefined && options.state)
    throw new UsageError('--state is of a folder or a database: no server hands it out.', BACKUP_USAGE)
  if (url === undefined && key !== undefined)
    throw new UsageError('--key is for a server: give --url, too.', BACKUP_USAGE)
  if ([url, options.store, from].filter((it) => it !== undefined).length > 1)
    throw new UsageError('--store, --from and --url are different sources; give one.', BACKUP_USAGE)
  const server = url === undefined ? undefined : chosenServer({ url, key }, around.environment, BACKUP_USAGE)
  const dir = resolve(to)
  const database = from ?? (options.store === undefined ? around.config.store : undefined)
  const config = { ...around.config, storeDir, store: database }
  if (url === undefined && database === undefined) assertApart(dir, resolve(storeDir))
  const before = readManifest(dir)
  const source = !server
    ? await localSource(config, project)
    : httpSource(doorTo(server.url, server.key, around.signal), project ?? DEFAULT_PROJECT, config)
  try {
    nodeFs.makeDir(dir)
    if (!before)
      await writeManifest(dir, { source: source.name, finished_at: null, failed: 0, repositories: {} })
    const families = familiesOf(config).map(({ folder }) => folder)
    const scope = { dir, families, withState: options.state ?? false }
    return await holdingLock(nodeFs, dir, 'backup', () => backUp(source, scope, around))
  } finally {
    await source.close()
  }
}

interface Scope {
  readonly dir: string
  /** Repositories of the first family are backed up before the others. */
  readonly families: readonly string[]
  readonly withState: boolean
}

async function backUp(
  source: Source,
  scope: Scope,
  { progress, signal }: BackupSurroundings,
): Promise<Report> {
  const { dir, families, withState } = scope
  const began = performance.now()
  const time = new Date().toISOString().replaceAll(/[-:]/g, '')
  const notes: string[] = []
  const changes = { new: 0, changed: 0, none: 0 }
  const state = withState && source.state ? await backUpState(source.state, dir, source.projects) : undefined
  const repositories = await source.list()
  const failures = await followAll({
    repositories,
    first: families[0] ?? '',
    progress,
    signal,
    work: async (repository) => {
      const { change, kept } = await backUpRepository(repository, { dir, time, signal })
      changes[change]++
      for (const { ref, why, keptAt } of kept) {
        notes.push(
          `${nameOf(repository)}: ${ref} was ${why === 'gone' ? 'removed' : 'rewritten'} in the store; what it was is kept as ${keptAt}`,
        )
      }
      return change !== 'none'
    },
  })
  const listed = new Set(repositories.map(nameOf))
  const mirrors = mirrorsIn(dir, families)
  const isInScope = (project: string): boolean => source.isWhole || source.projects.includes(project)
  for (const name of mirrors) {
    if (listed.has(nameOf(name)) || !isInScope(name.project)) continue
    notes.push(
      `${nameOf(name)}: no longer in the store; its mirror is kept as ${await setAside(dir, name, time)}`,
    )
  }
  await writeManifest(dir, {
    source: source.name,
    finished_at: new Date().toISOString(),
    failed: failures.length,
    repositories: countsOf(mirrorsIn(dir, families)),
  })
  const seconds = ((performance.now() - began) / 1000).toFixed(1)
  const done = `Backed up ${source.name} to ${dir}: ${counted(repositories.length)}, ${changes.new} new, ${changes.changed} changed, ${changes.none} as they were, ${failures.length} failed, ${seconds} s`
  const rest =
    state === undefined ? KEYS : `${state} files of keys, secrets, webhooks and evaluations. ${WITH_STATE}`
  return { lines: [...notes.sort(), done, rest], failures: failures.sort() }
}

const KEYS =
  'API keys, secrets, webhooks and the logs of evaluations are not in it without --state; traces never are. Make new keys after a restore.'

const WITH_STATE = 'Traces are not in a backup.'

/** Refuses nested folders: the backup would back up itself, or be served. */
function assertApart(dir: string, store: string): void {
  if (!`${dir}/`.startsWith(`${store}/`) && !`${store}/`.startsWith(`${dir}/`)) return
  throw new Refusal(
    'invalid_request',
    `--to: ${dir} and the store at ${store} lie within each other; name another folder.`,
  )
}

/** Moves the mirror of a repository that the store no longer has, so that a restore leaves it out; answers its new path in the backup. */
async function setAside(dir: string, name: RepositoryName, time: string): Promise<string> {
  const to = `.gone/${time}/${pathOfName(name)}`
  nodeFs.makeDir(dirname(`${dir}/${to}`))
  nodeFs.rename(`${dir}/${pathOfName(name)}`, `${dir}/${to}`)
  await nodeFs.syncDir(dirname(`${dir}/${to}`))
  await nodeFs.syncDir(dirname(`${dir}/${pathOfName(name)}`))
  return to
}

/** A store in a folder or a database, which servers may be using; all projects, or only `only`. */
async function localSource(config: Config, only: string | undefined): Promise<Source> {
  const folder = resolve(config.storeDir)
  if (config.store === undefined && !nodeFs.stat(`${folder}/format`)) {
    throw new Refusal('storage_unavailable', `There is no store at ${folder}; name its folder with --store.`)
  }
  // Opening the store first applies what a power cut left in the journals.
  const { store, dir, name, close } = await openStore(config)
  const projects = store.projects().filter((name) => isProjectName(name) && (only ?? name) === name)
  if (only !== undefined && projects.length === 0) {
    await close()
    throw new Refusal('artifact_not_found', `There is no project "${only}" in ${name}.`)
  }
  const list = async (): Promise<SourceRepository[]> => {
    const found: SourceRepository[] = []
    for (const project of projects) {
      const repositories = await store.project(project)
      for (const { folder: family } of familiesOf(config)) {
        for (const slug of repositories.slugs(family)) {
          const url = `${dir}/${pathOfName({ project, family, slug })}`
          const refs: SourceRepository['refs'] = async () => {
            await assertServable(nodeFs, url)
            return readAllRefs(nodeFs, url)
          }
          found.push({ project, family, slug, objects: { url }, refs })
        }
      }
    }
    return found
  }
  return {
    name,
    projects,
    isWhole: only === undefined,
    state: { fs: store.fs, dir },
    list,
    close,
  }
}

/** The project of a key, behind a server; the key needs the scope read. */
export function httpSource(door: Door, project: string, settings: Config): Source {
  const { base, headers } = door
  // The header goes only to this server, even if git is redirected.
  const config = { [`http.${base}/.extraHeader`]: `Authorization: ${headers.authorization}` }
  const list = async (): Promise<SourceRepository[]> => {
    const found: SourceRepository[] = []
    const families = familiesOf(settings).map(({ folder }) => folder)
    for (const family of families) {
      for (const slug of await slugsOf(door, family)) {
        const problem = slugProblem(slug)
        if (problem !== undefined) {
          found.push(unbelieved({ project, family, slug }, problem, base))
          continue
        }
        const objects = { url: `${base}/git/${family}/${encodeURIComponent(slug)}.git`, config }
        const refs: SourceRepository['refs'] = () => remoteRefs(objects.url, door)
        found.push({ project, family, slug, objects, refs })
      }
    }
    for (const { repository, reason } of await unserved(door)) {
      const [family = '', slug = ''] = repository.split('/')
      if (slugProblem(slug) !== undefined || !families.includes(family)) continue
      // Reported as a failure, because the server does not list it. An existing mirror stays unchanged.
      found.push({
        project,
        family,
        slug,
        objects: { url: base },
        refs: () => Promise.reject(notServed(reason)),
      })
    }
    return found
  }
  return {
    name: `the server at ${base}`,
    projects: [project],
    isWhole: false,
    list,
    close: async () => undefined,
  }
}

/** A repository whose slug from the server is not valid (interface 4.7), so it cannot be a folder here; it is reported and not backed up. */
function unbelieved(name: RepositoryName, problem: string, base: string): SourceRepository {
  const slug = JSON.stringify(name.slug.slice(0, 100))
  const refusal = new Refusal(
    'invalid_file',
    `the server names an artifact that cannot be one: its slug ${problem}`,
  )
  return { ...name, slug, objects: { url: base }, refs: () => Promise.reject(refusal) }
}

const ARTIFACTS_PER_PAGE = 100

/** All slugs of a family, also archived ones, oldest first. */
async function slugsOf(door: Door, family: string): Promise<string[]> {
  const slugs: string[] = []
  const page = z.object({
    [family]: z.array(z.object({ slug: z.string() })),
    windowing: z.object({ next: z.string() }).optional(),
  })
  for (let next: string | undefined; ;) {
    const windowing = {
      limit: ARTIFACTS_PER_PAGE,
      order: 'ascending',
      ...(next === undefined ? {} : { next }),
    }
    const body = JSON.stringify({ include_archived: true, windowing })
    const answer = page.parse(await ask(door, 'POST', `/${family}/query`, body))
    // The key was built from the same name; its value is an array of records.
    for (const { slug } of answer[family] as { slug: string }[]) slugs.push(slug)
    next = (answer.windowing as { next: string } | undefined)?.next
    if (next === undefined) return slugs
  }
}

const readiness = z.object({ damaged: z.array(z.object({ repository: z.string(), reason: z.string() })) })

/** The repositories that the server cannot serve. */
async function unserved(door: Door): Promise<z.infer<typeof readiness>['damaged']> {
  return readiness.parse(await ask(door, 'GET', '/ready')).damaged
}

function notServed(reason: string): Refusal {
  return new Refusal('damaged_repository', `the server does not serve it: ${reason}`)
}

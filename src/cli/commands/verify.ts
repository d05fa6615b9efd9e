import { checkProjectName } from '../../access/keys.ts'
import { type Config, readConfig } from '../../config.ts'
import { Refusal } from '../../errors.ts'
import { gitEnvironment, runGit } from '../../git/program.ts'
import { Store, type ProjectStore } from '../../git/store.ts'
import { workflowSurfaces } from '../../run/handlers.ts'
import { surfacesOf, type Family } from '../../registry/families.ts'
import { resourceSettings } from '../../server/resource-settings.ts'
import { nodeFs } from '../../storage/files.ts'
import type { Command, Shell } from '../command/command.ts'
import { assertOneForm } from '../command/json-lines.ts'
import { readArguments } from '../command/read-arguments.ts'
import { UsageError } from '../command/usage-error.ts'
import { VERBS } from '../command/verbs.ts'
import { type ProgressOutput, ERASE_LINE, showProgress } from '../command/show-progress.ts'
import {
  type RepositoryVerdict,
  repositoryLine,
  repositoryRecord,
  verdictSummary,
} from '../verify/repository-line.ts'
import { type VerifiedRepository, verifyRepository } from '../verify/verify-repository.ts'
import { INDEX_FILE, pathOf, type RegistrySettings, Registry } from '../../registry/registries.ts'
import { foldSlug } from '../../registry/artifacts.ts'
import { damage, verifyIndexFile, verifyIndex, expectedMirrors } from '../../registry/verify.ts'

const USAGE = `Reads every object of every repository and says what is wrong. Servers may run on the store meanwhile.

  branchpoint verify [--store DIR] [--project NAME] [--repair] [--second-reader] [--json|--jsonl]
  branchpoint verify --from postgres://… [--store DIR] [--project NAME] [--json|--jsonl]

  --store    the folder of the store; STORE_DIR (./store unless set) unless given
  --project  only this project; all of them unless given
  --repair   puts in order what is derived (mirror refs, refs that a crash cut off, derived files, leftovers of dead
             processes) and says each thing it did; real damage stays, with what to do about it
  --second-reader
             reads refs, commits, notes and a sample of rows through isomorphic-git as well, and names every difference
  --json     prints one object with a record for each repository in place of lines and sum; --jsonl a record a line
  --from     the database that servers share; STORE unless given. Reads every pack in it and compares it with its name, and
             the versions of repositories with the journal; then the refs and the bytes of the copy in --store (CACHE_DIR
             unless given), if there is one. Changes nothing

One line a repository: ok, repaired, stale (--repair can put it in order) or damaged. Exit code 1 if anything is stale or
damaged. As at every start of a server, what a dead one left in its journal is finished first.

Example:
  branchpoint verify --repair`

export const verifyCommand: Command = {
  usage: USAGE,
  run: async (args, shell) => {
    const { values } = readArguments(args, VERBS.verify.options, { usage: USAGE, takesWords: false })
    assertOneForm(values, USAGE)
    const records: string[] = []
    const print = values.json ? (record: string) => void records.push(record) : shell.print
    const isWhole = await verify(values, { ...shell, print })
    if (values.json) shell.print(`{"count":${records.length},"repositories":[${records.join(',')}]}`)
    return isWhole ? 0 : 1
  },
}

interface Options {
  readonly from?: string
  readonly store?: string
  readonly project?: string
  readonly repair?: boolean
  readonly 'second-reader'?: boolean
  readonly json?: boolean
  readonly jsonl?: boolean
}

async function verify(values: Options, { environment, progress, print }: Shell): Promise<boolean> {
  const { from, store, project, repair = false, 'second-reader': secondReader = false } = values
  const json = values.json ?? values.jsonl ?? false
  const config = readConfig(environment)
  const database = from ?? (store === undefined ? config.store : undefined)
  if (database === undefined) {
    const chosen = { ...config, storeDir: store ?? config.storeDir }
    return verifyStore({ config: chosen, project, repair, secondReader, json, progress, print })
  }
  if (repair || secondReader)
    throw new UsageError(
      '--repair and --second-reader are for a store of files: name its folder with --store.',
      USAGE,
    )
  const { verifyDatabase } = await import('../verify/verify-database.ts')
  const folder = store ?? config.cacheDir
  return verifyDatabase({ database, folder, project, json, progress, print })
}

export interface VerifyOptions {
  readonly config: Config
  /** Undefined: every project of the store. */
  readonly project: string | undefined
  readonly repair: boolean
  /** Whether isomorphic-git also reads all repositories, not just a sample. */
  readonly secondReader: boolean
  /** Whether repositories are printed as JSON. */
  readonly json?: boolean
  readonly progress: ProgressOutput
  /** Called with a line for every repository, and one at the end. */
  readonly print: (line: string) => void
}

/** Verifies a store; true if no problem remains. */
export async function verifyStore(options: VerifyOptions): Promise<boolean> {
  const { config, project, json = false, secondReader, progress, print } = options
  // Without git, every repository would be called damaged.
  await runGit({ args: ['--version'], env: gitEnvironment() })
  const store = await openStore(config.storeDir)
  const verdicts: RepositoryVerdict[] = []
  let count = 0
  const began = performance.now()
  const stopShowing = showProgress(progress, () => `${verdicts.length} of ${count} repositories verified`)
  try {
    const families = [
      ...new Set(surfacesOf(workflowSurfaces, resourceSettings(config)).map(({ family }) => family)),
    ]
    const settings = { servicesBase: '', now: () => new Date() }
    for (const name of projectsOf(store, project)) {
      const onCount = (repositories: number): void => void (count += repositories)
      const verifying = { store: await store.project(name), families, settings, onCount, secondReader }
      for await (const verified of verifyProject(verifying)) {
        const done = await repaired(verified, options)
        const { line, verdict } = repositoryLine(name, verified, done)
        verdicts.push(verdict)
        if (progress.isTTY) progress.write(ERASE_LINE)
        print(json ? JSON.stringify(repositoryRecord(name, verified, done)) : line)
      }
    }
  } finally {
    stopShowing()
    await store.close()
  }
  if (!json) print(verdictSummary(verdicts, (performance.now() - began) / 1000))
  return verdicts.every((verdict) => verdict !== 'damaged' && verdict !== 'stale')
}

async function openStore(dir: string): Promise<Store> {
  if (!nodeFs.stat(`${dir}/format`))
    throw new Refusal('storage_unavailable', `There is no store at ${dir}; name its folder with --store.`)
  return Store.open(nodeFs, dir)
}

function projectsOf(store: Store, project: string | undefined): readonly string[] {
  if (project === undefined) return store.projects()
  checkProjectName(project)
  if (store.projects().includes(project)) return [project]
  throw new Refusal('artifact_not_found', `The store at ${store.dir} has no project "${project}".`)
}

/** The repairs that were made, by finding; empty without --repair. */
async function repaired(
  { findings }: VerifiedRepository,
  { repair }: VerifyOptions,
): Promise<ReadonlyMap<string, string>> {
  const done = new Map<string, string>()
  if (!repair) return done
  for (const finding of findings) {
    if (!finding.repair) continue
    try {
      done.set(finding.sentence, await finding.repair())
    } catch (error) {
      // The finding remains and is reported.
      if (!(error instanceof Refusal)) throw error
    }
  }
  return done
}

interface ProjectToVerify {
  readonly store: ProjectStore
  readonly families: readonly Family[]
  readonly settings: RegistrySettings
  /** Whether isomorphic-git also reads all repositories, not just a sample. */
  readonly secondReader: boolean
  /** Called with the number of repositories before the first is verified. */
  readonly onCount: (repositories: number) => void
}

/** The sample of a project that isomorphic-git reads. */
const MAX_SAMPLED_REPOSITORIES = 100
/** git reads one repository while this process decodes another. */
const REPOSITORIES_AT_ONCE = 2

/** Verifies every repository of a project, then the index. Changes nothing that other processes see. */
async function* verifyProject(project: ProjectToVerify): AsyncGenerator<VerifiedRepository> {
  const { store, families, settings, secondReader } = project
  const registry = new Registry(store, families, settings)
  await registry.index.load()
  const places = families.flatMap((family) => store.slugs(family.folder).map((slug) => ({ family, slug })))
  project.onCount(places.length)
  const mirrors = await expectedMirrors(registry)
  const clashes = clashingSlugs(places)
  const running: Promise<VerifiedRepository>[] = []
  const step = Math.ceil(places.length / MAX_SAMPLED_REPOSITORIES)
  for (const [index, place] of places.entries()) {
    const read = secondReader ? 'all' : index % step === 0 ? 'sample' : 'nothing'
    running.push(verifyRepository({ registry, mirrors, secondReader: read }, place))
    const first = running.length === REPOSITORIES_AT_ONCE ? running.shift() : undefined
    if (first) yield withClash(await first, clashes)
  }
  for (const rest of running) yield withClash(await rest, clashes)
  const rebuilt = new Registry(store, families, settings)
  for (const problem of await verifyIndex(registry, rebuilt))
    yield { repository: 'the index', revisions: 0, findings: [damage(`${problem}. Restart the servers.`)] }
  const finding = await verifyIndexFile(registry)
  if (finding) yield { repository: INDEX_FILE, revisions: 0, findings: [finding] }
  for (const { index } of [registry, rebuilt]) await index.close()
}

/** For each repository, another one of its family whose slug differs only in case (interface 4.9). */
function clashingSlugs(
  places: readonly { readonly family: Family; readonly slug: string }[],
): ReadonlyMap<string, string> {
  const clashes = new Map<string, string>()
  const byFold = new Map<string, string>()
  for (const { family, slug } of places) {
    const path = pathOf(family, slug)
    const other = byFold.get(foldSlug(path))
    if (other !== undefined) clashes.set(path, other)
    byFold.set(foldSlug(path), path)
  }
  return clashes
}

function withClash(verified: VerifiedRepository, clashes: ReadonlyMap<string, string>): VerifiedRepository {
  const other = clashes.get(verified.repository)
  if (other === undefined) return verified
  const finding = damage(`Its slug and that of ${other} differ in case only. Rename one folder.`)
  return { ...verified, findings: [...verified.findings, finding] }
}

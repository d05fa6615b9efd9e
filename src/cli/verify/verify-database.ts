import { setTimeout as pause } from 'node:timers/promises'
import { checkProjectName } from '../../access/keys.ts'
import { Refusal } from '../../errors.ts'
import { CopyOnDisk, type RepositoryState, StoredRepositories } from '../../cluster/cluster.ts'
import { fsck } from '../../git/program.ts'
import { nodeFs } from '../../storage/files.ts'
import { damage, type Finding } from '../../registry/verify.ts'
import { ERASE_LINE, type ProgressOutput, showProgress } from '../command/show-progress.ts'
import { judgedLine, type RepositoryVerdict, verdictSummary } from './repository-line.ts'

export interface DatabaseToVerify {
  /** The database's URL. */
  readonly database: string
  /** The cache folder of one of its servers; may be absent. */
  readonly folder: string
  /** Undefined: every project. */
  readonly project: string | undefined
  /** Whether repositories are printed as JSON. */
  readonly json: boolean
  readonly progress: ProgressOutput
  /** Called with a line for every repository, and one at the end. */
  readonly print: (line: string) => void
}

const REPOSITORIES_PER_PAGE = 100

/** A running server updates its folder within a second, so differences are checked again. */
const MAX_RETRIES = 3
const MS_BETWEEN_RETRIES = 1000

/** Verifies a shared database and one server's copy of it; true if there are no problems. Changes nothing. */
export async function verifyDatabase(options: DatabaseToVerify): Promise<boolean> {
  const stored = await StoredRepositories.open(options.database)
  try {
    return await new DatabaseVerification(stored, options).run()
  } finally {
    await stored.close()
  }
}

class DatabaseVerification {
  readonly #stored: StoredRepositories
  readonly #options: DatabaseToVerify
  readonly #copy: CopyOnDisk | undefined
  readonly #prefix: string
  readonly #verdicts: RepositoryVerdict[] = []

  constructor(stored: StoredRepositories, options: DatabaseToVerify) {
    this.#stored = stored
    this.#options = options
    const copy = new CopyOnDisk(nodeFs, options.folder)
    this.#copy = copy.isThere ? copy : undefined
    this.#prefix = options.project === undefined ? '' : `${checkProjectName(options.project)}/`
  }

  async run(): Promise<boolean> {
    const { progress, print, json, project, folder } = this.#options
    const began = performance.now()
    const count = await this.#stored.count(this.#prefix)
    if (count === 0 && project !== undefined)
      throw new Refusal('artifact_not_found', `The database has no project "${project}".`)
    const stopShowing = showProgress(
      progress,
      () => `${this.#verdicts.length} of ${count} repositories verified`,
    )
    try {
      await this.#verifyAll()
    } finally {
      stopShowing()
    }
    if (!json) {
      print(verdictSummary(this.#verdicts, (performance.now() - began) / 1000))
      if (!this.#copy)
        print(`There is no copy of the database in ${folder}, so only the database was verified.`)
    }
    return this.#verdicts.every((verdict) => verdict === 'ok')
  }

  async #verifyAll(): Promise<void> {
    const journal = new Map(await this.#stored.journalProblems())
    const known = new Set<string>()
    for await (const states of this.#pages()) {
      const differences = await this.#differencesOf(states)
      for (const [repository, state] of states) {
        known.add(repository)
        const findings = [
          ...(await this.#packFindings(repository)),
          ...journalFindings(journal.get(repository)),
          ...(differences.get(repository) ?? []),
          ...(await this.#bytesInFolder(repository)),
        ]
        journal.delete(repository)
        this.#tell(repository, findings, state.packs.length)
      }
    }
    for (const [repository, problem] of journal)
      if (repository.startsWith(this.#prefix)) this.#tell(repository, journalFindings(problem))
    const others = (this.#copy?.repositories() ?? []).filter(
      (it) => it.startsWith(this.#prefix) && !known.has(it),
    )
    for (const [repository, findings] of await this.#differencesOf(await this.#stored.states(others), others))
      this.#tell(repository, findings)
  }

  /** The repositories of the project, page by page in the order of their names. */
  async *#pages(): AsyncGenerator<ReadonlyMap<string, RepositoryState>> {
    for (let last = this.#prefix; ;) {
      const page = await this.#stored.statesBehind(last, REPOSITORIES_PER_PAGE)
      const own = [...page].filter(([repository]) => repository.startsWith(this.#prefix))
      if (own.length > 0) yield new Map(own)
      if (own.length < REPOSITORIES_PER_PAGE) return
      last = own.at(-1)?.[0] ?? last
    }
  }

  /** Differences of the folder that remain after a running server had time to update it. */
  async #differencesOf(
    read: ReadonlyMap<string, RepositoryState>,
    repositories: readonly string[] = [...read.keys()],
  ): Promise<ReadonlyMap<string, readonly Finding[]>> {
    const copy = this.#copy
    if (!copy) return NOTHING
    let states = read
    for (let attempt = 0; ; attempt++) {
      const differing = new Map<string, readonly Finding[]>()
      for (const repository of repositories) {
        const findings = this.#findingsIn(copy, repository, states.get(repository))
        if (findings.length > 0) differing.set(repository, findings)
      }
      if (differing.size === 0 || attempt === MAX_RETRIES || !copy.isInUse) return differing
      await pause(MS_BETWEEN_RETRIES)
      states = await this.#stored.states([...differing.keys()])
      repositories = [...differing.keys()]
    }
  }

  #findingsIn(copy: CopyOnDisk, repository: string, state: RepositoryState | undefined): readonly Finding[] {
    try {
      const differences = copy.differencesFrom(repository, state)
      if (differences.length === 0) return NONE
      const remedy = copy.isInUse
        ? 'Stop its server, delete the folder and start it: the start fills it anew.'
        : 'Start its server, which brings the folder up; if it says so again then, delete the folder while the server is stopped.'
      return [{ kind: 'derived', sentence: `The folder differs: ${differences.join('; ')}. ${remedy}` }]
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      return [damage(`In the folder: ${error.message}`)]
    }
  }

  async #packFindings(repository: string): Promise<readonly Finding[]> {
    const problems = await this.#stored.packProblems(repository)
    return problems.map(({ pack, problem }) => damage(`${pack} in the database: ${problem}. ${RESTORE}`))
  }

  async #bytesInFolder(repository: string): Promise<readonly Finding[]> {
    const path = this.#copy?.pathOf(repository)
    if (path === undefined) return NONE
    const problems = await fsck(path)
    if (problems.length === 0) return NONE
    const remedy = 'Stop its server, delete the folder and start it: the start fills it anew.'
    return [damage(`git fsck in the folder: ${problems.slice(0, MAX_GIT_PROBLEMS).join('; ')}. ${remedy}`)]
  }

  #tell(path: string, findings: readonly Finding[], packs = 0): void {
    const { json, print, progress } = this.#options
    const [project = '', family = '', name = ''] = path.replace(/\.git$/, '').split('/')
    const repository = `${family}/${name}`
    const size = packs === 1 ? '1 pack' : `${packs} packs`
    const { line, verdict } = judgedLine(`${project}/${repository}`, size, findings)
    this.#verdicts.push(verdict)
    if (progress.isTTY) progress.write(ERASE_LINE)
    print(json ? JSON.stringify({ project, repository, verdict, packs, findings }) : line)
  }
}

const MAX_GIT_PROBLEMS = 4

const RESTORE =
  'Restore the database from its backup; or take one of a server whose folder is sound (branchpoint backup --url) and restore it to an empty database.'

const NONE: readonly Finding[] = []
const NOTHING: ReadonlyMap<string, readonly Finding[]> = new Map()

function journalFindings(problem: string | undefined): readonly Finding[] {
  if (problem === undefined) return NONE
  return [damage(`The versions do not agree: ${problem}. Restore the whole database from one backup.`)]
}

import { checkProjectName } from '../../src/access/project-name.ts'
import type { Config } from '../../src/config.ts'
import { Refusal } from '../../src/errors.ts'
import { Store } from '../../src/git/store.ts'
import { workflowSurfaces } from '../../src/handlers/workflows.ts'
import { surfacesOf } from '../../src/resources/surfaces.ts'
import { resourceSettings } from '../../src/server/resource-settings.ts'
import { nodeFs } from '../../src/storage/node-fs.ts'
import type { ProgressOutput } from '../testset/show-progress.ts'
import { showProgress } from '../testset/show-progress.ts'
import type { Verdict } from './repository-line.ts'
import { repositoryLine } from './repository-line.ts'
import { verifyProject } from './verify-project.ts'
import type { VerifiedRepository } from './verify-repository.ts'

/** What to verify, and where to say what was found. */
export interface VerifyOptions {
  readonly config: Config
  /** Undefined: every project of the store. */
  readonly project: string | undefined
  readonly repair: boolean
  /** Whether isomorphic-git reads the repositories, too. */
  readonly secondReader: boolean
  readonly progress: ProgressOutput
  /** Takes a line for every repository, and one at the end. */
  readonly print: (line: string) => void
}

/** Verifies the store; true if nothing is wrong with it that was not repaired. */
export async function verifyCommand(options: VerifyOptions): Promise<boolean> {
  const { config, project, secondReader, progress, print } = options
  const store = await openStore(config.storeDir)
  const verdicts: Verdict[] = []
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
        const { line, verdict } = repositoryLine(name, verified, await repaired(verified, options))
        verdicts.push(verdict)
        if (progress.isTTY) progress.write(ERASE_LINE)
        print(line)
      }
    }
  } finally {
    stopShowing()
    await store.close()
  }
  print(summary(verdicts, (performance.now() - began) / 1000))
  return verdicts.every((verdict) => verdict !== 'damaged' && verdict !== 'stale')
}

/** ECMA-48: to the first column, and erase in line. What is printed must not follow the progress. */
const ERASE_LINE = '\r\x1b[K'

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

/** What was done about each finding that can be repaired; empty without --repair. */
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
      // It stays as it was found, and counts as that.
      if (!(error instanceof Refusal)) throw error
    }
  }
  return done
}

function summary(verdicts: readonly Verdict[], seconds: number): string {
  const counts = (['ok', 'repaired', 'stale', 'damaged'] as const).flatMap((verdict) => {
    const count = verdicts.filter((it) => it === verdict).length
    return count > 0 ? [`${count} ${verdict}`] : []
  })
  return `${verdicts.length} repositories: ${counts.join(', ') || 'nothing to verify'} (${seconds.toFixed(1)} s)`
}

import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { git } from '../../support/git/git-program.ts'

/** Something of each repository, by its path in the store. */
export type ByRepository = Readonly<Record<string, string>>

/** Everything that a write could leave behind in these repositories, as git lists it. */
export function snapshotOf(storeDir: string, repositories: readonly string[]): ByRepository {
  return Object.fromEntries(repositories.map((path) => [path, describeRepository(join(storeDir, path))]))
}

/**
 * Names, sizes and times of all files of each repository. While these stay, so does its snapshot, which takes git far longer;
 * upkeep may change them and leave the snapshot as it is.
 */
export function filesOf(storeDir: string): ByRepository {
  return Object.fromEntries(
    repositoriesOf(storeDir).map((path) => [path, filesIn(join(storeDir, path)).join('\n')]),
  )
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return filesIn(path)
    // Packs are rolled up in the background.
    const stat = entry.isFile() ? statSync(path, { throwIfNoEntry: false }) : undefined
    return stat ? [`${path} ${stat.size} ${stat.mtimeMs}`] : []
  })
}

/** All repositories of all projects, by their path in the store. */
function repositoriesOf(storeDir: string): string[] {
  return readdirSync(storeDir, { withFileTypes: true })
    .filter((project) => project.isDirectory() && !project.name.startsWith('.'))
    .flatMap((project) => foldersIn(storeDir, project.name))
    .flatMap((family) => foldersIn(storeDir, family))
    .filter((path) => existsSync(join(storeDir, path, 'HEAD')))
    .sort()
}

function foldersIn(storeDir: string, path: string): string[] {
  return readdirSync(join(storeDir, path), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => `${path}/${entry.name}`)
}

function describeRepository(gitdir: string): string {
  const objects = git(gitdir, ['cat-file', '--batch-all-objects', '--batch-check=%(objectname)'])
  const refs = git(gitdir, ['for-each-ref', '--format=%(refname) %(objectname)'])
  const head = readFileSync(join(gitdir, 'HEAD'), 'utf8')
  return `${objects.split('\n').length} objects, HEAD ${head}${refs}`
}

import { execFile } from 'node:child_process'
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Everything that a write could leave behind, as text that can be compared: one block a repository, in order. */
export async function snapshotOf(storeDir: string): Promise<string> {
  const repositories = repositoriesOf(storeDir)
  return (await Promise.all(repositories.map((path) => describeRepository(storeDir, path)))).join('\n')
}

/**
 * Names, sizes and times of all files of all repositories. While these stay, so does the snapshot, which takes git twenty
 * times as long; upkeep may change them and leave the snapshot as it is.
 */
export function filesOf(storeDir: string): string {
  return repositoriesOf(storeDir)
    .flatMap((path) =>
      readdirSync(join(storeDir, path), { recursive: true, withFileTypes: true }).flatMap((entry) => {
        if (!entry.isFile()) return []
        const file = join(entry.parentPath, entry.name)
        // Packs are rolled up in the background.
        const stat = statSync(file, { throwIfNoEntry: false })
        return stat ? [`${file} ${stat.size} ${stat.mtimeMs}`] : []
      }),
    )
    .join('\n')
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

async function describeRepository(storeDir: string, path: string): Promise<string> {
  const cwd = join(storeDir, path)
  const git = async (...args: string[]) => (await run('git', args, { cwd })).stdout
  const [refs, objects] = await Promise.all([
    git('for-each-ref', '--format=%(refname) %(objectname)'),
    git('cat-file', '--batch-all-objects', '--batch-check=%(objectname)'),
  ])
  const head = readFileSync(join(cwd, 'HEAD'), 'utf8')
  return `${path}: ${objects.split('\n').length - 1} objects, HEAD ${head}${refs}`
}

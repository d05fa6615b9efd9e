import { execFile } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Everything that a write could leave behind, as text that can be compared: one line a repository, ref or HEAD. */
export async function snapshotOf(storeDir: string): Promise<string> {
  const repositories = repositoriesOf(storeDir)
  return (await Promise.all(repositories.map((path) => describeRepository(storeDir, path)))).join('\n')
}

/** All repositories of all projects, by their path in the store, those being built included. */
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
  const git = async (...args: string[]) => (await run('git', args, { cwd: join(storeDir, path) })).stdout
  const [head, refs, objects] = await Promise.all([
    git('symbolic-ref', 'HEAD'),
    git('for-each-ref', '--format=%(refname) %(objectname)'),
    git('cat-file', '--batch-all-objects', '--batch-check=%(objectname)'),
  ])
  return `${path}: ${objects.split('\n').length - 1} objects, HEAD ${head}${refs}`
}

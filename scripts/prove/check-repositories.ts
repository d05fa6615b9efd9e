import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/**
 * What `git fsck --strict` has to say against the repositories of a store, and what a dead process should not have left
 * behind once a server has started again: builds, staged packs, locks.
 */
export async function checkRepositories(storeDir: string): Promise<string[]> {
  const folder = join(storeDir, 'default', 'workflows')
  const problems: string[] = []
  const names = readdirSync(folder)
  const repositories = names.filter((name) => name.endsWith('.git') && !name.startsWith('.'))
  for (const name of names) if (!repositories.includes(name)) problems.push(`${name} was left behind`)
  const work = async (): Promise<void> => {
    for (let name = repositories.pop(); name !== undefined; name = repositories.pop()) {
      problems.push(...(await checkRepository(join(folder, name))))
    }
  }
  await Promise.all([work(), work()])
  return problems
}

async function checkRepository(gitdir: string): Promise<string[]> {
  const problems: string[] = []
  for (const file of readdirSync(gitdir, { recursive: true, encoding: 'utf8' })) {
    if (file.endsWith('.lock') || file.startsWith('objects/pack/tmp_'))
      problems.push(`${gitdir}/${file} was left behind`)
  }
  try {
    const { stdout, stderr } = await run('git', ['-C', gitdir, 'fsck', '--strict', '--no-progress'])
    // Dangling is what a write leaves that another one overtook; anything else is damage.
    const said = `${stdout}${stderr}`
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('dangling '))
    if (said.length > 0) problems.push(`${gitdir}: ${said.join('; ')}`)
  } catch (error) {
    problems.push(`${gitdir}: ${String(error)}`)
  }
  return problems
}

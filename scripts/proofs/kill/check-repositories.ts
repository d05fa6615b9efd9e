import { execFile } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { leftBehind } from '../left-behind.ts'

const run = promisify(execFile)

/**
 * What `git fsck --strict` has to say against the repositories of a store, and what a dead process should not have left
 * behind once a server has started again: builds, staged packs, locks.
 */
export async function checkRepositories(storeDir: string): Promise<string[]> {
  const problems: string[] = []
  const repositories: string[] = []
  for (const family of ['workflows', 'testsets', 'environments', 'queries']) {
    const folder = join(storeDir, 'default', family)
    if (!existsSync(folder)) continue
    for (const name of readdirSync(folder)) {
      if (name.endsWith('.git') && !name.startsWith('.')) repositories.push(join(folder, name))
      else problems.push(`${name} was left behind`)
    }
  }
  const work = async (): Promise<void> => {
    for (let gitdir = repositories.pop(); gitdir !== undefined; gitdir = repositories.pop()) {
      problems.push(...(await checkRepository(gitdir)))
    }
  }
  await Promise.all([work(), work()])
  return problems
}

async function checkRepository(gitdir: string): Promise<string[]> {
  const problems = (await leftBehind(gitdir)).map((file) => `${gitdir}/${file} was left behind`)
  try {
    const { stdout, stderr } = await run('git', ['-C', gitdir, 'fsck', '--strict', '--no-progress'])
    // Dangling is what a write leaves that another one overtook, and a default variant may be without a revision; anything else is damage.
    const said = `${stdout}${stderr}`
      .split('\n')
      .filter((line) => line !== '' && !/^dangling |^notice: HEAD points to an unborn branch/.test(line))
    if (said.length > 0) problems.push(`${gitdir}: ${said.join('; ')}`)
  } catch (error) {
    problems.push(`${gitdir}: ${String(error)}`)
  }
  return problems
}

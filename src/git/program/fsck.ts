import { setTimeout as pause } from 'node:timers/promises'
import { gitOn } from './git-process.ts'

const MS_BETWEEN_RUNS = 200

const CHECK = ['fsck', '--strict', '--full', '--no-dangling', '--no-progress', '--no-reflogs']

/**
 * The problems that `git fsck --strict --full` reports, in git's words; it reads every object, pack and index, and follows every ref. Because
 * a server may write meanwhile, and packs may be removed, only problems that a second run repeats are answered.
 */
export async function fsck(gitdir: string): Promise<readonly string[]> {
  const problems = await look(gitdir)
  if (problems.length === 0) return problems
  await pause(MS_BETWEEN_RUNS)
  const again = new Set(await look(gitdir))
  return problems.filter((problem) => again.has(problem))
}

async function look(gitdir: string): Promise<string[]> {
  const { code, output, complaint } = await gitOn(gitdir, CHECK, { maxComplaint: Infinity })
  const lines = `${output}\n${complaint}`.split('\n').map((line) => line.trim())
  // A repository without commits is not a problem.
  const problems = [...new Set(lines.filter((line) => line !== '' && !line.startsWith('notice:')))]
  if (code === 0) return []
  return problems.length > 0 ? problems : [`git fsck ended with ${code} and said nothing`]
}

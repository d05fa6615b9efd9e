import { setTimeout as pause } from 'node:timers/promises'
import { gitOn } from './git-process.ts'

/** Milliseconds between two looks. */
const PAUSE = 200

const CHECK = ['fsck', '--strict', '--full', '--no-dangling', '--no-progress', '--no-reflogs']

/**
 * What `git fsck --strict --full` finds wrong, a sentence of git's each: it reads every object, pack and index and follows every
 * ref. A server may write beside it, and packs may go while git reads them: only what git says twice is answered.
 */
export async function fsck(gitdir: string): Promise<readonly string[]> {
  const problems = await look(gitdir)
  if (problems.length === 0) return problems
  await pause(PAUSE)
  const again = new Set(await look(gitdir))
  return problems.filter((problem) => again.has(problem))
}

async function look(gitdir: string): Promise<string[]> {
  const { code, output, complaint } = await gitOn(gitdir, CHECK, { maxComplaint: Infinity })
  const lines = `${output}\n${complaint}`.split('\n').map((line) => line.trim())
  // A repository without a commit is nothing wrong.
  const problems = [...new Set(lines.filter((line) => line !== '' && !line.startsWith('notice:')))]
  if (code === 0) return []
  return problems.length > 0 ? problems : [`git fsck ended with ${code} and said nothing`]
}

import { spawnSync } from 'node:child_process'
import { userInfo } from 'node:os'
import type { KeyAuthor } from '../../../access/key-author.ts'
import { keyAuthor } from '../../../access/key-author.ts'
import { Refusal } from '../../../errors.ts'

/**
 * Who runs the command, as the author of what it commits: git's `user.name` and `user.email` where they are set, else the
 * user's name on this machine. Refuses what a git author cannot hold.
 */
export function localAuthor(): KeyAuthor {
  try {
    return keyAuthor(gitConfig('user.name') ?? userName(), gitConfig('user.email'))
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    throw new Refusal(error.code, `${error.message} ${REMEDY}`, error.data)
  }
}

const REMEDY = 'Set the author with git config user.name and git config user.email.'

/** Undefined if it is not set, or if there is no git to ask. */
function gitConfig(name: string): string | undefined {
  const { status, stdout } = spawnSync('git', ['config', '--get', name], { encoding: 'utf8' })
  return (status === 0 && stdout.trim()) || undefined
}

function userName(): string {
  try {
    return userInfo().username
  } catch {
    // a container may run under a number that no user has
    throw new Refusal('invalid_request', `Neither git nor this machine has a name for you. ${REMEDY}`)
  }
}

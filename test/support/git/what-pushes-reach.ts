import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** What servers make and change on their own: locks, journals, what is derived or told, traces, when keys were used. */
const OWN =
  /(?:^|\/)(?:\.journal|\.servers|\.spare|locks|webhooks|changes|spool|(?:traces|index)\.db[^/]*|key-uses\.json)(?:\/|$)/

/**
 * Everything in and beside a store that the text of a push could reach and no push may: the refs of each repository, and the names
 * and bytes of all files outside of them. A start must leave it as it was.
 */
export function whatPushesReach(folder: string): Readonly<Record<string, string>> {
  const seen: Record<string, string> = {}
  for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (OWN.test(path) || path.includes('.git/')) continue
    const full = join(folder, path)
    if (path.endsWith('.git')) seen[path] = refsOf(full)
    else if (statSync(full).isFile()) seen[path] = readFileSync(full, 'hex')
    else seen[path] = 'folder'
  }
  return seen
}

/** The paths at which two such looks differ. */
export function differences(
  before: Readonly<Record<string, string>>,
  after: Readonly<Record<string, string>>,
): string[] {
  const paths = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...paths].filter((path) => before[path] !== after[path])
}

/** Also the files of git itself in the folder, of which a push makes none. */
function refsOf(gitdir: string): string {
  const git = (...args: readonly string[]): string =>
    execFileSync('git', ['-C', gitdir, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  return `${git('for-each-ref')}${git('symbolic-ref', 'HEAD')}${readFileSync(join(gitdir, 'config'), 'utf8')}`
}

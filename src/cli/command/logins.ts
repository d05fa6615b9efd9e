import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { Refusal } from '../../errors.ts'

/** A server that was stored. */
export interface Login {
  readonly url: string
  readonly key: string
}

type Environment = Readonly<Record<string, string | undefined>>

/** The servers that `branchpoint login` stored, the last one first; each address occurs once. Refuses a file that it did not write. */
export function readLogins(environment: Environment): readonly Login[] {
  const path = fileOf(environment)
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
  const stored = loginsIn(text)
  if (stored) return stored
  throw new Refusal(
    'invalid_request',
    `${path} does not hold what branchpoint login writes. Remove it, and log in again.`,
  )
}

/** Stores a server as the last one, in place of what was stored for its address. Answers the path of the file. */
export function keepLogin(environment: Environment, login: Login): string {
  const others = readLogins(environment).filter(({ url }) => url !== login.url)
  return write(environment, [login, ...others])
}

/** Forgets the server of this address, without one the last; answers what it forgot. */
export function forgetLogin(environment: Environment, url: string | undefined): Login | undefined {
  const logins = readLogins(environment)
  const gone = logins.find((it) => url === undefined || it.url === url)
  if (gone)
    write(
      environment,
      logins.filter((it) => it !== gone),
    )
  return gone
}

/** The file lies in the user's configuration, as the XDG specification says. */
function fileOf(environment: Environment): string {
  const home = environment['HOME'] || homedir()
  const folder = environment['XDG_CONFIG_HOME'] || environment['APPDATA'] || join(home, '.config')
  return join(folder, 'branchpoint', 'logins.json')
}

function loginsIn(text: string): readonly Login[] | undefined {
  try {
    const { logins } = JSON.parse(text) as { readonly logins?: unknown }
    const isLogin = (it: Login): boolean => typeof it?.url === 'string' && typeof it.key === 'string'
    return Array.isArray(logins) && logins.every(isLogin) ? logins : undefined
  } catch {
    return undefined // JSON.parse throws only SyntaxErrors, and null has no members
  }
}

/** Only the user may read the keys. The rename leaves the old file or the new one, whatever happens. */
function write(environment: Environment, logins: readonly Login[]): string {
  const path = fileOf(environment)
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const temporary = `${path}.${process.pid}`
  rmSync(temporary, { force: true })
  writeFileSync(temporary, `${JSON.stringify({ logins }, undefined, 2)}\n`, { mode: 0o600, flag: 'wx' })
  renameSync(temporary, path)
  return path
}

import { text } from 'node:stream/consumers'
import { COMMAND } from '../../command-name.ts'
import { Refusal } from '../../errors.ts'
import { wordsOf } from '../command/at-server.ts'
import { projectOfKey, ServerRefusal } from '../command/ask-server.ts'
import { type ChosenServer, namedAddress, serverAddress } from '../command/chosen-server.ts'
import type { Command, Shell } from '../command/command.ts'
import { askHidden } from '../command/hidden-input.ts'
import { forgetLogin, keepLogin, readLogins } from '../command/logins.ts'
import { readArguments } from '../command/read-arguments.ts'
import { UsageError } from '../command/usage-error.ts'
import { VERBS } from '../command/verbs.ts'

const LOGIN_USAGE = `branchpoint login [URL] [--with-token] [--insecure]

  Stores the address of a server and a key, in a file of your configuration that only you may read. Every other command uses what
  login stored last, unless --url or BRANCHPOINT_URL names a server. One key is kept for each address.

  URL            https://prompts.example.org; BRANCHPOINT_URL unless given
  --with-token   reads the key from standard input; it is asked for on the terminal otherwise
  --insecure     sends the key over http to another machine, where everybody on the way can read it
  --url, --key   the same as URL and the key, for scripts; others on this machine may see what a command line holds

Example:
  branchpoint login https://prompts.example.org --with-token < key.txt`

const LOGOUT_USAGE = `branchpoint logout [URL]

  Forgets the key that login stored for a server. The key itself stays valid: branchpoint keys revoke ends it.

  URL            the address; what login stored last unless given
  --url          the same

Example:
  branchpoint logout https://prompts.example.org`

/** The command `login`. It stores nothing that the server did not accept. */
export const loginCommand: Command = { usage: LOGIN_USAGE, run: logIn }

/** The command `logout`. */
export const logoutCommand: Command = { usage: LOGOUT_USAGE, run: logOut }

async function logIn(args: readonly string[], { environment, progress }: Shell): Promise<number> {
  const { values, positionals } = readArguments(args, VERBS.login.options, { usage: LOGIN_USAGE })
  const [word] = wordsOf(positionals, { least: 0, most: 1, missing: '' }, LOGIN_USAGE)
  const given = word ?? namedAddress(values.url, environment)
  if (given === undefined) throw new UsageError('Name the address of the server.', LOGIN_USAGE)
  const url = serverAddress(given, 'URL', LOGIN_USAGE)
  const { protocol, hostname } = new URL(url)
  if (protocol === 'http:' && !LOOPBACK.test(hostname) && !values.insecure)
    throw new Refusal(
      'invalid_request',
      `${url} is not encrypted: everybody between here and ${hostname} could read the key. Use https, or add --insecure if you mean it.`,
    )
  const key = values.key ?? (await readKey(url, values['with-token'] ?? false))
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new Refusal(
      'invalid_request',
      'That is no key: one line without spaces, such as svc_… . Nothing was stored.',
    )
  const project = await projectAt({ url, key })
  const path = keepLogin(environment, { url, key })
  const shown = project === undefined ? '' : `, project "${project}"`
  progress.write(`Logged in to ${url}${shown}. The key is in ${path}.\n`)
  return 0
}

const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/

async function readKey(url: string, isPiped: boolean): Promise<string> {
  const { stdin, stderr } = process
  if (isPiped || !stdin.isTTY) return (await text(stdin)).trim()
  return ((await askHidden(`Key for ${url}: `, stdin, stderr)) ?? '').trim()
}

/** The project of the key, as the server says. A key without the scope `read` may not see it, but the server knows the key. */
async function projectAt(server: ChosenServer): Promise<string | undefined> {
  try {
    return await projectOfKey(server, undefined)
  } catch (error) {
    if (error instanceof ServerRefusal && error.problem.code === 'missing_scope') return undefined
    throw error
  }
}

async function logOut(args: readonly string[], { environment, progress }: Shell): Promise<number> {
  const { values, positionals } = readArguments(args, VERBS.logout.options, { usage: LOGOUT_USAGE })
  const [word = values.url] = wordsOf(positionals, { least: 0, most: 1, missing: '' }, LOGOUT_USAGE)
  const url = word === undefined ? undefined : serverAddress(word, 'URL', LOGOUT_USAGE)
  const gone = forgetLogin(environment, url)
  const [next, ...others] = readLogins(environment)
  if (!gone) {
    const known = next ? ` Stored are ${[next, ...others].map((it) => it.url).join(', ')}.` : ''
    throw new Refusal('invalid_request', `No key is stored${url === undefined ? '' : ` for ${url}`}.${known}`)
  }
  progress.write(`Forgot the key for ${gone.url}.${next ? ` Commands now ask ${next.url}.` : ''}\n`)
  if (environment['BRANCHPOINT_KEY']) progress.write(`BRANCHPOINT_KEY is still set: ${COMMAND} uses it.\n`)
  return 0
}

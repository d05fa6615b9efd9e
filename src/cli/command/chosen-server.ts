import { COMMAND } from '../../command-name.ts'
import { readLogins } from './logins.ts'
import { UsageError } from './usage-error.ts'

/** The address and key of a server that a command calls. */
export interface ChosenServer {
  readonly url: string
  readonly key: string
}

/** The options of the command line that choose a server. */
export interface ServerOptions {
  readonly url?: string | undefined
  readonly key?: string | undefined
  readonly store?: string | undefined
}

type Environment = Readonly<Record<string, string | undefined>>

/** The options about the server, in the usage of a command that asks one. */
export const SERVER_USAGE = `  --url, --key   the server and an API key; unless given, BRANCHPOINT_URL and BRANCHPOINT_KEY, or else what login stored last
  --project      refuses if the key is not of this project
  --store        is refused: this command asks a server`

/**
 * The server that a command calls: `--url`, else `BRANCHPOINT_URL`, else the last login, else a server on this machine. Its key is `--key`,
 * else that of a login at the address of `--url`, else `BRANCHPOINT_KEY`, else that of a login. `BRANCHPOINT_KEY` belongs to the server of
 * `BRANCHPOINT_URL`, where that is set, and is sent to no other one. `SVC_API_KEY` is not read, because it is the server's own setting. Throws
 * a UsageError for an address that is not http or https, and without a key.
 */
export function chosenServer(
  { url: given, key, store }: ServerOptions,
  environment: Environment,
  usage: string,
): ChosenServer {
  if (store !== undefined)
    throw new UsageError('--store names a folder, and this command asks a server: use --url.', usage)
  const url = serverAddress(given ?? defaultUrl(environment), '--url', usage)
  const fromVariable = variable(environment, 'BRANCHPOINT_KEY')
  // Files are read only where the command line and the environment leave something open.
  const stored = (): string | undefined => readLogins(environment).find((it) => it.url === url)?.key
  const home = variable(environment, 'BRANCHPOINT_URL')
  const isElsewhere = home !== undefined && originOf(home) !== originOf(url)
  const own = isElsewhere ? undefined : fromVariable
  const found = key ?? (given === undefined ? (own ?? stored()) : (stored() ?? own))
  if (found !== undefined) return { url, key: found }
  if (fromVariable !== undefined)
    throw new UsageError(
      `BRANCHPOINT_KEY is the key of BRANCHPOINT_URL (${home}), so it is not sent to ${url}. Give that server's key with --key, store it with ` +
        `"${COMMAND} login ${url}", or unset BRANCHPOINT_URL.`,
      usage,
    )
  throw new UsageError(
    `--key is missing (or BRANCHPOINT_KEY). To store a key for ${url}: ${COMMAND} login ${url}`,
    usage,
  )
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url
}

/** The address that the command line, `BRANCHPOINT_URL` or the last login names; undefined without any. */
export function namedAddress(given: string | undefined, environment: Environment): string | undefined {
  return given ?? variable(environment, 'BRANCHPOINT_URL') ?? readLogins(environment)[0]?.url
}

/** The address as it is called and stored: without a slash at the end. Throws a UsageError if it is not http or https, or has a password. */
export function serverAddress(text: string, option: string, usage: string): string {
  const url = text.replace(/\/+$/, '')
  const example = `${option}: "${text}" is not the address of a server, such as https://prompts.example.org.`
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) throw new UsageError(example, usage)
  const { username, password, search, hash } = new URL(url)
  if (username || password)
    throw new UsageError(`${option}: the address holds a user or a password; give the key with --key.`, usage)
  if (search || hash) throw new UsageError(example, usage)
  return url
}

/** The command line, with the address of `BRANCHPOINT_URL` or the last login after a `--url` that has none. */
export function withUrl(args: readonly string[], environment: Environment): string[] {
  const isBare = (at: number): boolean => args[at] === '--url' && (args[at + 1] ?? '--').startsWith('--')
  return args.flatMap((arg, at) => (isBare(at) ? [arg, defaultUrl(environment)] : [arg]))
}

function defaultUrl(environment: Environment): string {
  return namedAddress(undefined, environment) ?? 'http://127.0.0.1:3000'
}

/** An empty variable counts as unset, as in a shell's `${NAME:-…}`. */
function variable(environment: Environment, name: string): string | undefined {
  return environment[name] || undefined
}

import { UsageError } from './usage-error.ts'

/** The address and key of a server that a command calls. */
export interface ChosenServer {
  readonly url: string
  readonly key: string
}

type Environment = Readonly<Record<string, string | undefined>>

/**
 * The server that a command calls: `--url` and `--key`, or else `BRANCHPOINT_URL` (by default a server on this machine) and
 * `BRANCHPOINT_KEY`. `SVC_API_KEY` is not read, because it is the server's own setting.
 */
export function chosenServer(
  given: { readonly url?: string | undefined; readonly key?: string | undefined },
  environment: Environment,
  usage: string,
): ChosenServer {
  const key = given.key ?? variable(environment, 'BRANCHPOINT_KEY')
  if (key === undefined) throw new UsageError('--key is missing (or BRANCHPOINT_KEY).', usage)
  return { url: (given.url ?? defaultUrl(environment)).replace(/\/+$/, ''), key }
}

/** The command line, with the address of `BRANCHPOINT_URL` after a `--url` that has none. */
export function withUrl(args: readonly string[], environment: Environment): string[] {
  const isBare = (at: number): boolean => args[at] === '--url' && (args[at + 1] ?? '--').startsWith('--')
  return args.flatMap((arg, at) => (isBare(at) ? [arg, defaultUrl(environment)] : [arg]))
}

function defaultUrl(environment: Environment): string {
  return variable(environment, 'BRANCHPOINT_URL') ?? 'http://127.0.0.1:3000'
}

/** An empty variable counts as unset, as in a shell's `${NAME:-…}`. */
function variable(environment: Environment, name: string): string | undefined {
  return environment[name] || undefined
}

import { UsageError } from './usage-error.ts'

/** The address and key of a server, for commands that are its clients. */
export interface ChosenServer {
  readonly url: string
  readonly key: string
}

type Environment = Readonly<Record<string, string | undefined>>

/**
 * The server that a command asks: what `--url` and `--key` say, and where they are not given `BRANCHPOINT_URL` (a server of this machine
 * unless set) and `BRANCHPOINT_KEY`. A client's key has just this name; `SVC_API_KEY` is the server's own setting, and read by it alone.
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

/** A command line in which `--url` without an address has that of `BRANCHPOINT_URL`. */
export function withUrl(args: readonly string[], environment: Environment): string[] {
  const isBare = (at: number): boolean => args[at] === '--url' && (args[at + 1] ?? '--').startsWith('--')
  return args.flatMap((arg, at) => (isBare(at) ? [arg, defaultUrl(environment)] : [arg]))
}

function defaultUrl(environment: Environment): string {
  return variable(environment, 'BRANCHPOINT_URL') ?? 'http://127.0.0.1:3000'
}

/** One that is set to nothing counts as unset, as in a shell's `${NAME:-…}`. */
function variable(environment: Environment, name: string): string | undefined {
  return environment[name] || undefined
}

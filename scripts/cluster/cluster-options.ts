import { parseArgs } from 'node:util'
import { UsageError } from '../../src/cli/command/usage-error.ts'

/** What is to be done with a cluster that runs. */
export interface Order {
  readonly verb: 'show' | 'kill' | 'pause' | 'start'
  /** `primary`, or the number of a server; absent for `show`. */
  readonly what?: string
}

export interface ClusterOptions {
  readonly help: boolean
  /** So many servers are started. */
  readonly servers: number
  /** For the cluster that runs already; undefined to start one. */
  readonly order: Order | undefined
}

export const CLUSTER_USAGE = `npm run cluster [-- OPTIONS]: several servers over a PostgreSQL pair, behind a balancer, on this machine

  --servers N        so many servers (3)

To the cluster that runs in another terminal:
  --show             what runs, and where
  --kill primary     end the primary with SIGKILL; the standby is promoted a second later
  --kill N           end server N with SIGKILL
  --pause N          stop server N where it is (SIGSTOP); --start N goes on with it
  --start N          start server N again`

const ORDERS = ['kill', 'pause', 'start'] as const

/** Reads the command line. Throws UsageError for what it does not know. */
export function readClusterOptions(args: readonly string[]): ClusterOptions {
  const { help = false, servers = '3', show = false, ...orders } = parsed(args)
  if (!/^[1-9]$/.test(servers)) throw new UsageError('--servers takes a number from 1 to 9.', CLUSTER_USAGE)
  const given = ORDERS.flatMap((verb) => {
    const what = orders[verb]
    return what === undefined ? [] : [{ verb, what }]
  })
  if (given.length + Number(show) > 1) throw new UsageError('One order at a time.', CLUSTER_USAGE)
  for (const { verb, what } of given)
    if (!/^[1-9]$/.test(what) && !(verb === 'kill' && what === 'primary'))
      throw new UsageError(
        `--${verb} takes the number of a server${verb === 'kill' ? ', or primary' : ''}.`,
        CLUSTER_USAGE,
      )
  return { help, servers: Number(servers), order: show ? { verb: 'show' } : given[0] }
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        help: { type: 'boolean', short: 'h' },
        servers: { type: 'string' },
        show: { type: 'boolean' },
        kill: { type: 'string' },
        pause: { type: 'string' },
        start: { type: 'string' },
      },
    }).values
  } catch (error) {
    throw new UsageError((error as Error).message, CLUSTER_USAGE)
  }
}

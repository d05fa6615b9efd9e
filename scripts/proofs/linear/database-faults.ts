import { setTimeout as pause } from 'node:timers/promises'
import type { ChildServer } from '../../../test/support/servers/child-server.ts'
import { type PostgresPair, startPair } from '../../../test/support/postgres/postgres.ts'
import { Link } from '../../../test/support/postgres/link.ts'

/** What goes wrong in the middle of a round. */
export interface Fault {
  /** Resolves once it is over, or as it will stay. */
  begin(servers: readonly ChildServer[]): Promise<void>
  /** Ends what is left of it, so that the servers can be held against each other. */
  end(): Promise<void>
}

export const FAULT_NAMES = ['none', 'failover', 'zombie', 'pause', 'partition'] as const

export type FaultName = (typeof FAULT_NAMES)[number]

/** A PostgreSQL pair that several servers share, each of which reaches it by links of its own. */
export interface LinkedPair {
  /** The URL for the server of that number, from 0. */
  url(server: number): string
  readonly fault: Fault | undefined
  stop(): Promise<void>
}

/** A link stays dark, and a server or a primary stopped, for so many milliseconds: longer than a look or an append waits. */
const FOR = 6_000

/** A primary is stopped for longer than anybody looks for one, so that requests are refused. */
const FOR_LONG = 18_000

/** Starts a pair in which that will go wrong. */
export async function startLinkedPair(servers: number, name: FaultName): Promise<LinkedPair> {
  const pair = await startPair()
  const toPrimary: Link[] = []
  const toStandby: Link[] = []
  for (let number = 0; number < servers; number++) {
    toPrimary.push(await Link.to(pair.primary.port))
    toStandby.push(await Link.to(pair.standby.port))
  }
  return {
    url: (server) =>
      `postgres://bp@127.0.0.1:${toPrimary[server]?.port},127.0.0.1:${toStandby[server]?.port}/postgres`,
    fault: name === 'none' ? undefined : FAULTS[name](pair, toPrimary),
    stop: async () => {
      for (const link of [...toPrimary, ...toStandby]) link.stop()
      await pair.stop()
    },
  }
}

const FAULTS: Readonly<
  Record<Exclude<FaultName, 'none'>, (pair: PostgresPair, toPrimary: readonly Link[]) => Fault>
> = {
  /** The primary is killed, and the standby takes its place. */
  failover: (pair) => ({
    begin: async () => {
      await pair.primary.kill()
      await pair.promote()
    },
    end: async () => undefined,
  }),

  /** The standby takes the place of a primary that lives on: the first server still has that one, the others have the new one. */
  zombie: (pair, [, ...others]) => ({
    begin: async () => {
      for (const link of others) link.goDown()
      await pair.promote()
    },
    // As somebody who fences it does, in the end.
    end: () => pair.primary.kill(),
  }),

  /** The first server stands still, then the primary does; each goes on as if nothing had been. */
  pause: (pair) => ({
    begin: async ([server]) => {
      if (!server) throw new Error('a round needs a server')
      process.kill(server.pid, 'SIGSTOP')
      await pause(FOR)
      process.kill(server.pid, 'SIGCONT')
      await pause(FOR / 2)
      pair.primary.signal('SIGSTOP')
      await pause(FOR_LONG)
      pair.primary.signal('SIGCONT')
    },
    end: async () => undefined,
  }),

  /**
   * The first server does not reach the primary for a while; then none does, and the standby takes its place, until the primary that was
   * replaced is reached again, with what was on its way to it.
   */
  partition: (pair, toPrimary) => ({
    begin: async () => {
      toPrimary[0]?.goDark()
      await pause(FOR)
      toPrimary[0]?.comeBack()
      await pause(FOR / 2)
      for (const link of toPrimary) link.goDark()
      await pair.promote()
      await pause(FOR)
      for (const link of toPrimary) link.comeBack()
    },
    end: async () => undefined,
  }),
}

import type { LookupAddress } from 'node:dns'
import { lookup } from 'node:dns/promises'

/** Where requests to addresses that users chose may go. */
export interface OutgoingPolicy {
  /** Whether addresses that are not of the public internet may be reached, too. */
  readonly allowPrivate: boolean
  /** All addresses of a host name. */
  readonly resolve: (hostname: string) => Promise<readonly LookupAddress[]>
}

/** As the system resolves names. */
export const resolveHost: OutgoingPolicy['resolve'] = (hostname) => lookup(hostname, { all: true })

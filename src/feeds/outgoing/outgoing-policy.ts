import type { LookupAddress } from 'node:dns'
import { lookup } from 'node:dns/promises'

/** Which addresses chosen by users may be requested. */
export interface OutgoingPolicy {
  /** Whether addresses outside the public internet are allowed too. */
  readonly allowPrivate: boolean
  readonly resolve: (hostname: string) => Promise<readonly LookupAddress[]>
}

/** Resolves names as the system does. */
export const resolveHost: OutgoingPolicy['resolve'] = (hostname) => lookup(hostname, { all: true })

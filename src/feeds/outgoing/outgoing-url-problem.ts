import { isIP } from 'node:net'
import type { OutgoingPolicy } from './outgoing-policy.ts'
import { isPublicAddress } from './public-address.ts'

/**
 * Why a URL may not be requested, as the end of a sentence that begins with the URL; undefined if it may. The addresses of a host name are
 * checked later, when the connection is made.
 */
export function outgoingUrlProblem(
  text: string,
  { allowPrivate }: Pick<OutgoingPolicy, 'allowPrivate'>,
): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) return 'is not an http or https URL; send one with its scheme'
  if (url.username !== '' || url.password !== '')
    return 'holds a user name or password, which would be shown to everyone who may read it; leave them out'
  if (allowPrivate) return undefined
  const host = hostOf(url)
  const isPublic = isIP(host) === 0 ? !/(^|\.)localhost\.?$/.test(host) : isPublicAddress(host)
  return isPublic ? undefined : 'does not lead to the public internet; send the URL of a public host'
}

/** The URL's host for a resolver or socket: an IPv6 address without brackets. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1')
}

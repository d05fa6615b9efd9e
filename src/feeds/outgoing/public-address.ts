import ipaddr from 'ipaddr.js'

/**
 * Whether an IP address is public: not local, private, shared, link-local, a tunnel, multicast or reserved (the registries of RFC 6890). An
 * IPv6 address that maps an IPv4 address is judged as that one.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  const ip = ipaddr.process(address)
  if (ip.range() !== 'unicast') return false
  return ip instanceof ipaddr.IPv4 || ip.match(GLOBAL_UNICAST)
}

/** All IPv6 addresses assigned so far (RFC 4291, 2.4). */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3')

import ipaddr from 'ipaddr.js'

/**
 * Whether an IP address is one of the public internet: not of this machine, a private or shared network, a link, a tunnel, a group,
 * or reserved (the registries of RFC 6890). An IPv6 address that only stands for an IPv4 one is judged as that.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  const ip = ipaddr.process(address)
  if (ip.range() !== 'unicast') return false
  return ip instanceof ipaddr.IPv4 || ip.match(GLOBAL_UNICAST)
}

/** All that is handed out of IPv6 so far (RFC 4291, 2.4); addresses past it are nobody's. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3')

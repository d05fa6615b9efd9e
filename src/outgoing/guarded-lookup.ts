import type { LookupFunction } from 'node:net'
import { OutgoingFailure } from './outgoing-failure.ts'
import type { OutgoingPolicy } from './outgoing-policy.ts'
import { isPublicAddress } from './public-address.ts'

/**
 * Answers a socket that wants to connect with addresses it may connect to, or with why it may not. The connection goes to one of
 * those that were checked: a name that leads elsewhere a moment later changes nothing.
 */
export function guardedLookup({ allowPrivate, resolve }: OutgoingPolicy): LookupFunction {
  return (hostname, { all, family }, callback) => {
    resolve(hostname).then(
      (found) => {
        const addresses = found.filter((it) => !family || it.family === family)
        const [first] = addresses
        if (!first) return callback(new OutgoingFailure(`${hostname} has no address.`), '', 0)
        // One address that is not public makes the name suspect: of two, a client tries one after the other.
        const inside = allowPrivate ? undefined : addresses.find(({ address }) => !isPublicAddress(address))
        if (inside) {
          const sentence = `${hostname} has the address ${inside.address}, which is not of the public internet.`
          return callback(new OutgoingFailure(sentence, 'address'), '', 0)
        }
        if (all) callback(null, addresses)
        else callback(null, first.address, first.family)
      },
      (error: Error) => callback(error, '', 0),
    )
  }
}

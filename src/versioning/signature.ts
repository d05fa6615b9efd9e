import type { Signature } from '../git/signature.ts'
import type { Actor } from './registry.ts'

/** The git signature of an actor at a moment, in UTC. */
export function signatureOf(actor: Actor, now: Date): Signature {
  return {
    name: actor.name,
    email: actor.email,
    seconds: Math.floor(now.getTime() / 1000),
    timezone: '+0000',
  }
}

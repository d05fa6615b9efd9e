import type { Middleware } from 'koa'
import { Refusal } from '../../errors.ts'
import type { RequestState } from '../request-state.ts'

/**
 * Lets requests in while no more than `most` are being worked on, this one included; refuses the others with `overloaded` (503 and
 * `Retry-After`) before they cost anything: no key is looked up and no body is read.
 */
export function limitRequests(inFlight: () => number, most: number): Middleware<RequestState> {
  return (_ctx, next) => {
    if (inFlight() > most) {
      throw new Refusal(
        'overloaded',
        `The server works on ${most} requests already, the most that it takes at once. Try again in a moment.`,
      )
    }
    return next()
  }
}

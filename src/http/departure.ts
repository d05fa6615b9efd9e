import type { ServerResponse } from 'node:http'
import { Refusal } from '../../errors.ts'

/** Comes when the connection ends before the answer does: nobody waits for it any more. */
export function departure(response: ServerResponse): AbortSignal {
  const controller = new AbortController()
  response.once('close', () => {
    if (!response.writableFinished) controller.abort(gone())
  })
  return controller.signal
}

function gone(): Refusal {
  return new Refusal('contradictory_request', 'The client went away before it was answered.')
}

import type { ServerResponse } from 'node:http'
import { Refusal } from '../../errors.ts'

/** The reason of a `departure`. It says that the work was given up, not that the request could never be done. */
export class ClientDisconnected extends Refusal {
  constructor() {
    super('contradictory_request', 'The client went away before it was answered.')
  }
}

/** Comes, with `ClientDisconnected`, when the connection ends before the answer does: nobody waits for it any more. */
export function clientAbort(response: ServerResponse): AbortSignal {
  const controller = new AbortController()
  const leave = (): void => {
    if (!response.writableFinished) controller.abort(new ClientDisconnected())
  }
  // Of an answer that waited for others of its connection, node never says that it is closed.
  if (response.closed || response.destroyed) leave()
  else response.once('close', leave)
  return controller.signal
}

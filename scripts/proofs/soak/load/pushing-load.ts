import { emptyLedger } from '../../kill/ledger.ts'
import { PushLoad } from '../../kill/push-load.ts'
import type { SteadyTask } from './steady-load.ts'

/** So many pushes from each clone. */
const PUSHES = 4

/** Somebody who clones the workflow `slug` with the stock git program, pushes a few times and starts anew. */
export function pushingLoad(url: string, slug: string): { readonly tasks: SteadyTask[]; end(): void } {
  let pusher: PushLoad | undefined
  let left = 0
  const end = (): void => {
    pusher?.end()
    pusher = undefined
  }
  const work = async (): Promise<void> => {
    if (left-- === 0) {
      end()
      left = PUSHES
      pusher = new PushLoad(url, slug, emptyLedger())
      await pusher.begin()
    } else await pusher?.step()
  }
  return { tasks: [{ name: 'clone and push', perSecond: 0.2, work }], end }
}

import { Refusal } from '../../../src/errors.ts'
import { runAside } from '../../../src/base/scheduling/run-aside.ts'

/** So many calls of `runAside` begin at once. */
export const THREADS = 2

/** Has every call that may begin begun, and so many more wait. Call what it answers to end them all. */
export function keepBusy(waiting: number): () => Promise<void> {
  let end = (): void => undefined
  const held = new Promise<never>((_, reject) => {
    end = () => reject(new Error('it is over'))
  })
  const calls = Array.from({ length: THREADS + waiting }, () => runAside(() => held).catch(() => undefined))
  return async () => {
    end()
    await Promise.all(calls)
  }
}

/** Whether one more call is refused while all are busy; it leaves the line at once if it is not. */
export async function isLineFull(): Promise<boolean> {
  const stop = new AbortController()
  const asked = runAside(() => Promise.reject(new Error('it left the line')), stop.signal)
  stop.abort()
  const error: unknown = await asked.catch((reason: unknown) => reason)
  return error instanceof Refusal && error.code === 'overloaded'
}

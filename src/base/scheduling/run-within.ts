import { createContext, Script } from 'node:vm'

/** `runWithin` stopped its work. */
export class DeadlinePassed extends Error {}

/**
 * Answers what the synchronous `work` returns; throws `DeadlinePassed` if it takes longer. V8 stops all code called by a script with a time
 * limit, including our functions; nothing else can stop a running function.
 */
export function runWithin<T>(milliseconds: number, work: () => T): T {
  const outer = stage.work
  stage.work = work
  try {
    // the script's only line calls `work`, so this is its result
    return CALL.runInContext(stage, { timeout: milliseconds }) as T
  } catch (error) {
    throw isTimeout(error) ? new DeadlinePassed(`it took more than ${milliseconds} ms`) : error
  } finally {
    stage.work = outer
  }
}

const stage: { work: () => unknown } = { work: () => undefined }
createContext(stage)
const CALL = new Script('work()')

/** The error is made in the script's own realm, so it is not an instance of our `Error`. */
function isTimeout(error: unknown): boolean {
  return (
    typeof error === 'object' &&
    error !== null &&
    'code' in error &&
    error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
  )
}

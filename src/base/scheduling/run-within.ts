import { createContext, Script } from 'node:vm'

/** `runWithin` stopped its work. */
export class DeadlinePassed extends Error {}

/**
 * What `work`, which must not wait for anything, returns; throws `DeadlinePassed` if it goes on for longer. V8 stops whatever runs below a
 * script that has a time limit, our functions included; no other clock stops a running function.
 */
export function runWithin<T>(milliseconds: number, work: () => T): T {
  const outer = stage.work
  stage.work = work
  try {
    // the script's only line calls `work`, so that is what comes back
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

/** The error is made in the stage's own realm, so it is no `Error` of ours. */
function isTimeout(error: unknown): boolean {
  return (
    typeof error === 'object' &&
    error !== null &&
    'code' in error &&
    error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
  )
}

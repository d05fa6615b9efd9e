import type { RunningServer } from './server.ts'

export interface ShutdownOptions {
  readonly server: RunningServer
  /** Called with one sentence for the log. */
  readonly say: (sentence: string) => void
  /** What has to happen after the last answer: close the store, flush the log. */
  readonly close: () => void | Promise<void>
}

/**
 * Ends the process on SIGTERM or SIGINT: everything in flight is finished and answered, then `close`, then exit 0. What
 * takes longer than ten seconds is cut off and the exit code is 1. A second signal ends the process at once.
 */
export function shutDownOnSignals({ server, say, close }: ShutdownOptions): void {
  let stopping = false
  const onSignal = (signal: NodeJS.Signals) => {
    if (stopping) process.exit(1)
    stopping = true
    say(`${signal}: finishing what is in flight`)
    void stopServing(server, say, close).then((code) => process.exit(code))
  }
  process.on('SIGTERM', onSignal)
  process.on('SIGINT', onSignal)
}

const HARD_LIMIT = 10_000

async function stopServing(
  server: RunningServer,
  say: ShutdownOptions['say'],
  close: ShutdownOptions['close'],
): Promise<number> {
  const inTime = await server.stop(HARD_LIMIT)
  say(inTime ? 'stopped' : `stopped after ${HARD_LIMIT} ms with requests unfinished`)
  await close()
  return inTime ? 0 : 1
}

import { yieldToEventLoop } from '../../base/scheduling.ts'
import { setTimeout as pause } from 'node:timers/promises'
import type { RunningServer } from './server.ts'

export interface ShutdownOptions {
  readonly server: Pick<RunningServer, 'stop' | 'unfinished'>
  /** Called with one sentence for the log. */
  readonly say: (sentence: string) => void
  /** Closes everything after the last answer; returns the names of what could not be ended. */
  readonly close: () => Promise<readonly string[]>
  /** Resolves once the log is written. */
  readonly flushed: () => Promise<void>
  /** The time limit of the whole stop, in milliseconds. */
  readonly limitMs: number
}

/**
 * Ends the process on SIGTERM or SIGINT: finishes and answers all requests in flight, then calls `close`,
 * then exits with 0. Requests that take longer than a third of the limit are cut off, and the exit code is 1.
 * At the limit the process is killed: answered writes are on the disk, and the next start finishes the rest.
 * The log names what delayed the stop. A second signal ends the process at once.
 */
export function shutDownOnSignals(options: ShutdownOptions): void {
  let stopping = false
  const onSignal = (signal: NodeJS.Signals) => {
    if (stopping) endProcess(1)
    stopping = true
    options.say(`${signal}: finishing what is in flight`)
    void stopServing(options)
  }
  process.on('SIGTERM', onSignal)
  process.on('SIGINT', onSignal)
}

async function stopServing({ server, say, close, flushed, limitMs }: ShutdownOptions): Promise<void> {
  const end = async (kept: readonly string[], isForced: boolean, code: number): Promise<void> => {
    const why = kept.length > 0 ? `; what kept it: ${kept.join(', ')}` : ''
    say(kept.length > 0 || isForced ? `stopped, not all of it ended${why}` : 'stopped')
    await Promise.race([flushed(), pause(LOG_FLUSH_MS)])
    if (isForced) process.kill(process.pid, 'SIGKILL')
    // The pool counts the log's write until its callback is over.
    await untilPoolRests(LOG_FLUSH_MS)
    endProcess(code)
  }
  const last = setTimeout(() => void end([...server.unfinished, ...openResources()], true, 1), limitMs)
  const grace = limitMs / 3
  const inTime = await server.stop(grace)
  if (!inTime) say(`requests are cut off after ${grace} ms: ${server.unfinished.join(', ')}`)
  const left = await close().catch((error: unknown) => {
    // A gone store or database cannot be closed: log the sentence, and end the process.
    say(error instanceof Error ? error.message : String(error))
    return undefined
  })
  await untilPoolRests(limitMs / 15)
  const kept = [
    ...(left ?? []),
    ...(poolRequests().length > 0 ? ['requests to the disk or the resolver'] : []),
  ]
  clearTimeout(last)
  await end(kept, kept.length > 0, inTime && left !== undefined ? 0 : 1)
}

const LOG_FLUSH_MS = 1000

/** node waits for its thread pool before it exits: for ever, if a disk or a name server does not answer. */
function endProcess(code: number): never {
  if (poolRequests().length > 0) process.kill(process.pid, 'SIGKILL')
  process.exit(code)
}

async function untilPoolRests(withinMs: number): Promise<void> {
  const end = performance.now() + withinMs
  await yieldToEventLoop()
  while (poolRequests().length > 0 && performance.now() < end) await pause(10)
}

/** Requests to the disk and the resolver that node has begun. */
function poolRequests(): string[] {
  return process
    .getActiveResourcesInfo()
    .filter((kind) => /^(?:FSReq|GetAddrInfoReq|GetNameInfoReq)/.test(kind))
}

/**
 * The open resources of the process with node's names and counts: `ProcessWrap` is a child, `MessagePort` a
 * thread.
 */
function openResources(): string[] {
  const counts = new Map<string, number>()
  for (const kind of process.getActiveResourcesInfo()) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return [...counts].map(([kind, count]) => `${count} ${kind}`)
}

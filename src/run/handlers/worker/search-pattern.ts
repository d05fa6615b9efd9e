import { compilePattern } from './compile-pattern.ts'
import { boundedText } from '../../../base/json.ts'
import { HandlerFailure } from '../handler-failure.ts'
import type { WorkerCaller, WorkerOutcome } from './long-jobs.ts'
import { workerPool } from './long-jobs.ts'

/** The time limit of a search (interface 11.9). */
export const PATTERN_LIMIT_MS = 1000

/** A pattern without operators has one way to match, so it is searched on this thread. */
const LITERAL = /^[^\\^$.*+?()[\]{}|]{0,1000}$/

/**
 * Whether a JavaScript regular expression matches in a text (interface 11.9), with inline flags at its start
 * (`compilePattern`). All but plain texts run in a worker, for at most a second. Throws
 * `regex-pattern-error`, quoting the pattern, and refuses as `WorkerPool` does.
 */
export function searchPattern(
  pattern: string,
  isCaseSensitive: boolean,
  text: string,
  caller: WorkerCaller,
): boolean | Promise<boolean> {
  return LITERAL.test(pattern)
    ? compilePattern(pattern, isCaseSensitive).test(text)
    : searchInWorker(pattern, isCaseSensitive, text, caller)
}

async function searchInWorker(
  pattern: string,
  isCaseSensitive: boolean,
  text: string,
  caller: WorkerCaller,
): Promise<boolean> {
  const job = { kind: 'pattern', pattern, isCaseSensitive, text } as const
  const outcome = await workerPool.do(job, PATTERN_LIMIT_MS, caller)
  const problem = problemOf(outcome)
  if (problem !== undefined) throw patternError(pattern, problem)
  return typeof outcome === 'object' && 'found' in outcome && outcome.found === true
}

function problemOf(outcome: WorkerOutcome): string | undefined {
  if (outcome === 'late') {
    return `the search took more than ${PATTERN_LIMIT_MS} ms; write it so that there are fewer ways to match (no repetition inside a repetition)`
  }
  if (outcome === 'broken') return 'the search took more memory than it may'
  if (outcome === 'abandoned') return 'the request ended before the search'
  return 'problem' in outcome ? outcome.problem : undefined
}

function patternError(pattern: string, problem: string): HandlerFailure {
  const quoted = boundedText(pattern, 200)
  return new HandlerFailure('v0:workflows:regex-pattern-error', `Regex pattern '${quoted}':\n${problem}`)
}

import type { Middleware } from 'koa'
import type { Logger } from 'pino'
import { DatabaseAway, Refusal } from '../../errors.ts'
import { stringifyJson } from '../../json/stringify-json.ts'
import { type Problem, internalProblem, problemOf } from '../problem.ts'
import type { RequestState } from '../request-state.ts'
import type { RequestContext } from './when-closed.ts'

/** What answers to errors are made with. */
export interface ErrorHandling {
  readonly log: Logger
  /** Why the store cannot be used, looked at afresh: where it has gone, nothing else that was found wrong is true. */
  readonly storeProblem: () => Refusal | undefined
  readonly form?: ErrorForm | undefined
}

/**
 * The one place where an error becomes an answer (interface 3.1, 3.11). A refusal is answered as it says, a failing disk
 * as `storage_unavailable`; anything else is a bug of ours: logged whole, answered without internals.
 */
export function errorHandler(handling: ErrorHandling): Middleware<RequestState> {
  return async (ctx, next) => {
    try {
      await next()
    } catch (error) {
      respondWithError(ctx, handling.storeProblem() ?? error, handling)
    }
  }
}

function respondWithError(ctx: RequestContext, error: unknown, { log, form }: ErrorHandling): void {
  const { requestId, challenge = 'ApiKey', isTerminal, caller } = ctx.state
  const refusal =
    caller === undefined && error instanceof DatabaseAway
      ? error.withoutWhy()
      : error instanceof Refusal
        ? error
        : refusalOfDisk(error)
  const problem = refusal ? problemOf(refusal) : internalProblem(requestId)
  if (problem.status >= 500) log.error({ err: error, requestId }, problem.title)
  ctx.status = problem.status
  setHeaders(problem, challenge, (name, value) => ctx.set(name, value))
  ctx.body = isTerminal
    ? `${problem.detail}\n`
    : stringifyJson(form === 'list' ? withListedDetail(problem) : problem)
  ctx.type = isTerminal ? 'text/plain' : 'application/problem+json'
}

/** What the `detail` of a 422 is: a sentence, or the list of problems that clients of the existing service read (interface 2.30). */
export type ErrorForm = 'sentence' | 'list'

function withListedDetail(problem: Problem): object {
  if (problem.status !== 422) return problem
  const { errors = [{ loc: ['body'], msg: problem.detail, type: problem.code }] } = problem
  return { ...problem, detail: errors }
}

/** node's error codes of a disk that is full, broken, read-only or out of handles, each with what it means. */
const DISK_ERRORS: Readonly<Record<string, string>> = {
  ENOSPC: 'is full',
  EDQUOT: 'has no quota left',
  EROFS: 'is read-only',
  EACCES: 'denies access',
  EPERM: 'denies access',
  EIO: 'fails to read or write',
  EMFILE: 'has no file handles left',
  ENFILE: 'has no file handles left',
  ELOOP: 'has a symbolic link that leads round in a circle',
  ENXIO: 'has something in the place of a file',
  ENODEV: 'is gone',
  ESTALE: 'is not there any more as it was',
  EBADMSG: 'is damaged',
  EUCLEAN: 'is damaged',
}

function refusalOfDisk(error: unknown): Refusal | undefined {
  const { code = '', syscall } = (error ?? {}) as Partial<NodeJS.ErrnoException> // anything may be thrown
  const meaning = DISK_ERRORS[code]
  if (meaning === undefined || syscall === undefined) return undefined
  return new Refusal(
    'storage_unavailable',
    `The disk under the store ${meaning} (${code}). What this request was to store may be there or not: look before you ` +
      `repeat it, or repeat it with the same Idempotency-Key, once the operator has seen to the disk.`,
  )
}

function setHeaders(problem: Problem, challenge: string, set: (name: string, value: string) => void): void {
  if (problem.status === 401) set('WWW-Authenticate', challenge)
  if (problem.status === 503 || problem.status === 429) set('Retry-After', '1')
  const allow = problem.details?.['allow']
  if (problem.status === 405 && Array.isArray(allow)) set('Allow', allow.join(', '))
}

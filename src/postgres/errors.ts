import { Refusal } from '../errors.ts'

/** The connection broke while something was asked: whether it was done nobody knows. */
export class LostConnection extends Error {
  override readonly name = 'LostConnection'

  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : 'the database gave no certain answer', { cause })
  }
}

/** What PostgreSQL says when it ends a connection, cannot begin one, or is no primary any more. */
const LOSSES: ReadonlySet<string> = new Set([
  ...['57P01', '57P02', '57P03', '08000', '08001', '08003', '08004', '08006', '25006', '55000', '53300'],
])

/** Whether an error of a connection says that it is lost, rather than what was wrong with what was asked. */
export function isLoss(error: unknown): boolean {
  const code = codeOf(error)
  return code === undefined
    ? !(error instanceof Refusal) && isOfTheDriver(error)
    : LOSSES.has(code) || !isSqlState(code)
}

/** A warning that a commit was not waited for until a standby had it: it may be lost with this primary. */
export function isUncertain({
  code,
  message,
}: {
  readonly code?: string | undefined
  readonly message?: string
}): boolean {
  return code === '01000' && /synchronous replication/.test(message ?? '')
}

/** Whether two batches waited for each other, or one was undone for another reason that is over: it may be sent again. */
export function isWorthAnotherTry(error: unknown): boolean {
  return ['40P01', '40001', '55P03'].includes(codeOf(error) ?? '')
}

/** Whether a stream is not where its server believes. */
export function isOtherPlace(error: unknown): boolean {
  return codeOf(error) === 'BP001'
}

/** What an operator has to see to becomes a refusal; every other error stays what it is. */
export function refusalOf(error: unknown): unknown {
  const code = codeOf(error)
  if (code === undefined || !/^(?:53|58)/.test(code)) return error
  return new Refusal(
    'storage_unavailable',
    `The database cannot take it: ${(error as Error).message}. Nothing was stored; see to the database, and try again.`,
  )
}

export function codeOf(error: unknown): string | undefined {
  return error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined
}

function isSqlState(code: string): boolean {
  return /^[0-9A-Z]{5}$/.test(code)
}

/** The driver's own have no code: a query that took too long, a connection that was ended. */
function isOfTheDriver(error: unknown): boolean {
  return error instanceof Error && /timeout|terminated|Connection|not queryable|closed/i.test(error.message)
}

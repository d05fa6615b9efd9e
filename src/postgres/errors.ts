import { DatabaseAway, Refusal } from '../errors.ts'

/** The connection broke while something was asked: whether it was done nobody knows. */
export class LostConnection extends DatabaseAway {
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : 'it gave no certain answer')
    this.cause = cause
  }
}

/** What PostgreSQL, or a pooler before it, says when it ends a connection, cannot begin one, or is no primary any more. */
const LOSSES: ReadonlySet<string> = new Set([
  ...['57P01', '57P02', '57P03', '57P05', '08000', '08001', '08003', '08004', '08006', '08P01'],
  ...['25006', '25P03', '25P04', '55000', '53300'],
])

/**
 * The classes of errors by which a database says that it is busy, failing, or not as it has to be: none says that what was asked is wrong
 * (https://www.postgresql.org/docs/current/errcodes-appendix.html). P0 and BP are what the functions of migrations raise.
 */
const OF_THE_DATABASE = /^(?:08|25|26|28|2D|3D|3F|40|53|54|55|57|58|72|BP|F0|P0|XX)/

/** Of a class that is else about what was asked: a plan that is too old, no right to a table, and a table or function that is gone. */
const OF_THE_DATABASE_TOO: ReadonlySet<string> = new Set(['0A000', '42501', '42P01', '42883'])

/** Whether an error of a connection says that it is lost, rather than what was wrong with what was asked. */
export function isLoss(error: unknown): boolean {
  const code = codeOf(error)
  return code === undefined
    ? !(error instanceof Refusal) && isOfTheDriver(error)
    : LOSSES.has(code) || !isSqlState(code)
}

/** A warning that a commit was not waited for until a standby had it: it may be lost with this primary. Its message may be in any language. */
export function isUncertain({ code, message, routine }: Warning): boolean {
  return (
    code === '01000' && (routine === 'SyncRepWaitForLSN' || /synchronous replication/.test(message ?? ''))
  )
}

interface Warning {
  readonly code?: string | undefined
  readonly message?: string
  readonly routine?: string | undefined
}

/** Whether two batches waited for each other, or one was undone for another reason that is over: it may be sent again. */
export function isWorthAnotherTry(error: unknown): boolean {
  return ['40P01', '40001', '55P03'].includes(codeOf(error) ?? '')
}

/** Whether a stream is not where its server believes. */
export function isOtherPlace(error: unknown): boolean {
  return codeOf(error) === 'BP001'
}

/** An error that is the database's becomes a refusal, whose cause it is; one that is ours, or not of the database, stays what it is. */
export function refusalOf(error: unknown): unknown {
  const code = codeOf(error)
  if (error instanceof Refusal || code === undefined || !isSqlState(code)) return error
  if (!OF_THE_DATABASE.test(code) && !OF_THE_DATABASE_TOO.has(code)) return error
  const refusal = new Refusal(
    'storage_unavailable',
    `The database cannot take it: ${(error as Error).message} (${code}). Nothing was stored; try again, and if it stays so, see to the database.`,
  )
  refusal.cause = error
  return refusal
}

/** What PostgreSQL calls an error, also where that has become a refusal. */
export function codeOf(error: unknown): string | undefined {
  const own = error instanceof Refusal ? error.cause : error
  return own instanceof Error ? (own as NodeJS.ErrnoException).code : undefined
}

function isSqlState(code: string): boolean {
  return /^[0-9A-Z]{5}$/.test(code)
}

/** The driver's own have no code: a query that took too long, a connection that was ended. */
function isOfTheDriver(error: unknown): boolean {
  return error instanceof Error && /timeout|terminated|Connection|not queryable|closed/i.test(error.message)
}

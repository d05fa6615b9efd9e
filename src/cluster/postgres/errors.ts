import { DatabaseAway, Refusal } from '../../errors.ts'

/** The connection broke during a statement, so it is unknown whether the statement was carried out. */
export class LostConnection extends DatabaseAway {
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : 'it gave no certain answer')
    this.cause = cause
  }
}

/** Codes with which PostgreSQL or a pooler ends or refuses a connection, or says that the host is not the primary. */
const LOSSES: ReadonlySet<string> = new Set([
  ...['57P01', '57P02', '57P03', '57P05', '08000', '08001', '08003', '08004', '08006', '08P01'],
  ...['25006', '25P03', '25P04', '55000', '53300'],
])

/**
 * Error classes about the state of the database, none about an invalid statement
 * (https://www.postgresql.org/docs/current/errcodes-appendix.html). P0 and BP are raised by the functions of migrations.
 */
const OF_THE_DATABASE = /^(?:08|25|26|28|2D|3D|3F|40|53|54|55|57|58|72|BP|F0|P0|XX)/

/** Codes about the state of the database in other classes: an outdated plan, a missing right, a missing table or function. */
const OF_THE_DATABASE_TOO: ReadonlySet<string> = new Set(['0A000', '42501', '42P01', '42883'])

/** Whether an error means that the connection is lost, rather than that the statement failed. */
export function isLoss(error: unknown): boolean {
  const code = codeOf(error)
  return code === undefined
    ? !(error instanceof Refusal) && isOfTheDriver(error)
    : LOSSES.has(code) || !isSqlState(code)
}

/**
 * Whether a warning says that a commit did not wait for a standby, so it may be lost with this primary. The message may be in any language.
 */
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

/** Whether a batch was rolled back for a temporary reason, such as a deadlock, and may be sent again. */
export function isWorthAnotherTry(error: unknown): boolean {
  return ['40P01', '40001', '55P03'].includes(codeOf(error) ?? '')
}

/** Whether a stream is at another position than its server assumes. */
export function isOtherPlace(error: unknown): boolean {
  return codeOf(error) === 'BP001'
}

/** Turns an error about the state of the database into a Refusal, with the error as its cause. Other errors are returned unchanged. */
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

/** The SQLSTATE of an error or of a Refusal's cause. */
export function codeOf(error: unknown): string | undefined {
  const own = error instanceof Refusal ? error.cause : error
  return own instanceof Error ? (own as NodeJS.ErrnoException).code : undefined
}

function isSqlState(code: string): boolean {
  return /^[0-9A-Z]{5}$/.test(code)
}

/** The driver's own errors have no code: a timeout, a closed connection. */
function isOfTheDriver(error: unknown): boolean {
  return error instanceof Error && /timeout|terminated|Connection|not queryable|closed/i.test(error.message)
}

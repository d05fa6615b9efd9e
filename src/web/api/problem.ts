/** What the server refused, in its own words (RFC 9457). */
export class Problem extends Error {
  readonly status: number
  readonly code: string
  /** Which fields are wrong, of a 422. */
  readonly errors: readonly FieldProblem[]
  /** The whole document: conflicts, missing approvals, near names. */
  readonly document: Readonly<Record<string, unknown>>

  constructor(status: number, document: Readonly<Record<string, unknown>>) {
    super(sentenceOf(status, document))
    this.name = 'Problem'
    this.status = status
    this.code = typeof document['code'] === 'string' ? document['code'] : 'unknown'
    this.errors = Array.isArray(document['errors']) ? (document['errors'] as FieldProblem[]) : []
    this.document = document
  }

  /** What is wrong with a field, by its name at any place of what was sent; undefined where nothing is said of it. */
  of(field: string): string | undefined {
    return this.errors.find(({ loc }) => loc.includes(field))?.msg
  }
}

export interface FieldProblem {
  readonly loc: readonly (string | number)[]
  readonly msg: string
  readonly type?: string
}

/**
 * The server could not be asked at all: it is down, or the network is. What is read is asked for until there is an answer; a write is not
 * repeated, since it may have happened.
 */
export class Unreachable extends Error {
  constructor() {
    super('The server does not answer. What you typed is kept: try again once the server is back.')
    this.name = 'Unreachable'
  }
}

/** A run that failed says why in its `status`. */
function sentenceOf(code: number, { detail, title, status }: Readonly<Record<string, unknown>>): string {
  if (typeof detail === 'string') return detail
  const ofRun = (status as { readonly message?: unknown } | null | undefined)?.message
  if (typeof ofRun === 'string') return ofRun
  return typeof title === 'string' ? title : `The server answered ${code}.`
}

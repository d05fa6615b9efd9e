/** One request as it is sent. */
export interface ModelRequest {
  readonly method: 'GET' | 'POST' | 'PUT'
  readonly path: string
  readonly body?: object
  /** JSON text that stands for the string `@data@` in the body, so that it arrives exactly as written. */
  readonly rawData?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Refused with one of these codes: where several reasons hold, the interface leaves open which is told. */
export interface Refused {
  readonly refused: readonly Code[]
}

/** Answered with one of these bodies. Writes learn the ids that the server made from `actual`, and change the model. */
export interface Answered {
  readonly answer: (actual: ActualBody) => readonly object[]
  /** The warnings beside it, asked for after `answer`; none where it is absent. */
  readonly warnings?: (() => readonly Told[]) | undefined
  /** Text the answer must hold as it stands. */
  readonly exact?: string | undefined
}

/** A warning: its code, and a part of what it says. */
export interface Told {
  readonly code: string
  readonly says: string
}

export type Expectation = Refused | Answered

/** What a step asks, and what must come back. */
export interface Planned {
  readonly request: ModelRequest
  readonly expected: Expectation
}

/** An answer's body, of which only ids and generated slugs are believed. */
// A test looks into what came back freely; everything in it is compared afterwards.
export type ActualBody = any

/** The refusals that histories run into, with the status each answers (interface 3.3). */
export const STATUS = {
  contradictory_request: 400,
  incomplete_reference: 400,
  missing_payload: 400,
  artifact_not_found: 404,
  variant_not_found: 404,
  revision_not_found: 404,
  slug_taken: 409,
  archived: 409,
  revision_exists: 409,
  revision_conflict: 409,
  precondition_failed: 412,
  invalid_request: 422,
  read_only_field: 422,
  unknown_field: 422,
  no_such_key: 422,
} as const

export type Code = keyof typeof STATUS

/** A reading expectation: exactly this body. */
export function answered(body: object, exact?: string): Answered {
  return { answer: () => [body], exact }
}

export function refused(...codes: Code[]): Refused {
  return { refused: codes }
}

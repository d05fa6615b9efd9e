import {
  boundedJson,
  boundedText,
  type Json,
  ExactNumber,
  isJsonArray,
  isJsonObject,
} from '../../base/json.ts'

/**
 * The failures of runs by the id at the end of `status.type` (interface 11.2). Faulty requests answer 400;
 * failures of a model, a hook or a script answer 424 (interface 3.9, 11.2).
 */
const STATUSES = {
  'v0:interface:invalid-uri': 400,
  'v0:schemas:invalid-parameters': 400,
  'v0:schemas:missing-parameter': 400,
  'v0:schemas:invalid-parameter': 400,
  'v0:schemas:invalid-inputs': 400,
  'v0:schemas:missing-input': 400,
  'v0:schemas:invalid-input': 400,
  'v0:schemas:invalid-outputs': 400,
  'v0:schemas:invalid-secrets': 424,
  'v0:schemas:unknown-connection': 400,
  'v0:schemas:connection-model-mismatch': 400,
  'v0:workflows:regex-pattern-error': 400,
  'v0:workflows:prompt-formatting-error': 400,
  'v0:workflows:prompt-completion-error': 424,
  'v0:workflows:semantic-similarity-error': 424,
  'v0:workflows:custom-hook-server-error': 424,
  'v0:workflows:custom-hook-client-error': 424,
  'v0:workflows:custom-hook-handler-not-defined': 424,
  'v0:workflows:custom-code-server-error': 424,
  'v0:workflows:code-error': 424,
  'v0:workflows:match-error': 424,
  'v0:workflows:mock-error': 424,
  'v0:workflows:feedback-error': 424,
  'v0:workflows:llm-error': 424,
  'v0:workflows:llm-unavailable': 424,
  'v0:workflows:not-implemented': 424,
  'v0:workflows:force-not-supported': 406,
} as const

export type FailureId = keyof typeof STATUSES

type FailureStatus = 400 | 406 | 422 | 424

/** A run that failed in an expected way. The message says what, where and why, one per line. */
export class HandlerFailure extends Error {
  override readonly name = 'HandlerFailure'
  readonly id: FailureId
  /** The HTTP status of the answer. */
  readonly status: FailureStatus
  /** The stack trace lines in the user's code. */
  readonly stacktrace: readonly string[] | undefined
  /** The name of the secret of the project without which it failed. */
  readonly secret: string | undefined

  /** `status` overrides the status of the id. */
  constructor(
    id: FailureId,
    message: string,
    stacktrace?: readonly string[],
    status: FailureStatus = STATUSES[id],
    secret?: string,
  ) {
    super(message)
    this.id = id
    this.status = status
    this.stacktrace = stacktrace
    this.secret = secret
  }

  /** A stable name in snake_case (interface 3.1): `missing_parameter`. */
  get code(): string {
    return this.id.slice(this.id.lastIndexOf(':') + 1).replaceAll('-', '_')
  }
}

/** A required parameter is missing; `path` is its place: `prompt`, `matchers`. */
export function missingParameter(path: string): HandlerFailure {
  return new HandlerFailure('v0:schemas:missing-parameter', `Missing parameter:\nAt '${path}'`)
}

/** A parameter has another type or range than `expected`. */
export function invalidParameter(path: string, expected: string, got: Json | undefined): HandlerFailure {
  return parameterProblem(path, expectation(expected, got))
}

/** A parameter is invalid for a reason other than its type or range; the sentence says why. */
export function parameterProblem(path: string, sentence: string): HandlerFailure {
  return new HandlerFailure('v0:schemas:invalid-parameter', `Invalid parameter:\nAt '${path}'\n${sentence}`)
}

/** The parameters are invalid as a whole. */
export function invalidParameters(expected: string, got: Json | undefined): HandlerFailure {
  return new HandlerFailure(
    'v0:schemas:invalid-parameters',
    `Invalid parameters:\n${expectation(expected, got)}`,
  )
}

/** A required input is missing. */
export function missingInput(path: string): HandlerFailure {
  return new HandlerFailure('v0:schemas:missing-input', `Missing input:\nAt '${path}'`)
}

/** An input has another type than `expected`. */
export function invalidInput(path: string, expected: string, got: Json | undefined): HandlerFailure {
  return new HandlerFailure(
    'v0:schemas:invalid-input',
    `Invalid input:\nAt '${path}'\n${expectation(expected, got)}`,
  )
}

/** The inputs are invalid as a whole. */
export function invalidInputs(expected: string, got: Json | undefined): HandlerFailure {
  return new HandlerFailure('v0:schemas:invalid-inputs', `Invalid inputs:\n${expectation(expected, got)}`)
}

/** Outputs to score or to answer have another type than `expected`. */
export function invalidOutputs(expected: string, got: Json | undefined): HandlerFailure {
  return outputsProblem(expectation(expected, got))
}

/** Outputs are invalid for a reason other than their type; the sentence says why. */
export function outputsProblem(sentence: string): HandlerFailure {
  return new HandlerFailure('v0:schemas:invalid-outputs', `Invalid outputs:\n${sentence}`)
}

/** The name of a type in messages (interface 11.2). */
export function typeWord(value: Json | undefined): string {
  if (value === undefined || value === null) return 'NoneType'
  if (typeof value === 'string') return 'str'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'number') return Number.isInteger(value) ? 'int' : 'float'
  if (value instanceof ExactNumber) return /^-?[0-9]+$/.test(value.literal) ? 'int' : 'float'
  if (isJsonArray(value)) return 'list'
  return isJsonObject(value) ? 'dict' : typeof value
}

function expectation(expected: string, got: Json | undefined): string {
  return `Expected '${expected}'\nGot ('${typeWord(got)}') '${shown(got)}'.`
}

const CHARACTERS_SHOWN = 200

function shown(value: Json | undefined): string {
  if (value === undefined || value === null) return 'None'
  return typeof value === 'string'
    ? boundedText(value, CHARACTERS_SHOWN)
    : boundedJson(value, CHARACTERS_SHOWN)
}

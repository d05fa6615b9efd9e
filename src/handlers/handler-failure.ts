import { boundedJson } from '../json/bounded-json.ts'
import { boundedText } from '../json/json-values.ts'
import type { Json } from '../json/json.ts'
import { ExactNumber, isJsonArray, isJsonObject } from '../json/json.ts'

/**
 * What made a run fail, by the id that `status.type` ends with (interface 11.2). Those that blame the request answer 400;
 * what failed behind us (a model, a hook, a script) answers 424 (interface 3.9, 11.2).
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

/** What a failure is known by. */
export type FailureId = keyof typeof STATUSES

type FailureStatus = 400 | 406 | 422 | 424

/** A run that failed in an expected way. The message says what, where and why, a line each. */
export class HandlerFailure extends Error {
  override readonly name = 'HandlerFailure'
  readonly id: FailureId
  /** The HTTP status of the answer. */
  readonly status: FailureStatus
  /** Lines of where it happened in code that the user wrote. */
  readonly stacktrace: readonly string[] | undefined

  /** `status` where it is not the one that the id has. */
  constructor(
    id: FailureId,
    message: string,
    stacktrace?: readonly string[],
    status: FailureStatus = STATUSES[id],
  ) {
    super(message)
    this.id = id
    this.status = status
    this.stacktrace = stacktrace
  }

  /** A stable name in snake_case (interface 3.1): `missing_parameter`. */
  get code(): string {
    return this.id.slice(this.id.lastIndexOf(':') + 1).replaceAll('-', '_')
  }
}

/** A parameter that has to be there and is not; `path` is where: `prompt`, `matchers`. */
export function missingParameter(path: string): HandlerFailure {
  return new HandlerFailure('v0:schemas:missing-parameter', `Missing parameter:\nAt '${path}'`)
}

/** A parameter of another type or range than `expected` says. */
export function invalidParameter(path: string, expected: string, got: Json | undefined): HandlerFailure {
  return parameterProblem(path, expectation(expected, got))
}

/** A parameter that nothing can be done with, for another reason than its type or range: a sentence says why. */
export function parameterProblem(path: string, sentence: string): HandlerFailure {
  return new HandlerFailure('v0:schemas:invalid-parameter', `Invalid parameter:\nAt '${path}'\n${sentence}`)
}

/** Parameters that are wrong as a whole. */
export function invalidParameters(expected: string, got: Json | undefined): HandlerFailure {
  return new HandlerFailure(
    'v0:schemas:invalid-parameters',
    `Invalid parameters:\n${expectation(expected, got)}`,
  )
}

/** An input that has to be there and is not. */
export function missingInput(path: string): HandlerFailure {
  return new HandlerFailure('v0:schemas:missing-input', `Missing input:\nAt '${path}'`)
}

/** An input of another type than `expected` says. */
export function invalidInput(path: string, expected: string, got: Json | undefined): HandlerFailure {
  return new HandlerFailure(
    'v0:schemas:invalid-input',
    `Invalid input:\nAt '${path}'\n${expectation(expected, got)}`,
  )
}

/** Inputs that are wrong as a whole. */
export function invalidInputs(expected: string, got: Json | undefined): HandlerFailure {
  return new HandlerFailure('v0:schemas:invalid-inputs', `Invalid inputs:\n${expectation(expected, got)}`)
}

/** Outputs, to be scored or answered, of another type than `expected` says. */
export function invalidOutputs(expected: string, got: Json | undefined): HandlerFailure {
  return outputsProblem(expectation(expected, got))
}

/** Outputs that nothing can be done with, for another reason than their type: a sentence says why. */
export function outputsProblem(sentence: string): HandlerFailure {
  return new HandlerFailure('v0:schemas:invalid-outputs', `Invalid outputs:\n${sentence}`)
}

/** The name a type goes by in messages (interface 11.2). */
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

/** Characters of a value that a message holds. */
const SHOWN = 200

function shown(value: Json | undefined): string {
  if (value === undefined || value === null) return 'None'
  return typeof value === 'string' ? boundedText(value, SHOWN) : boundedJson(value, SHOWN)
}

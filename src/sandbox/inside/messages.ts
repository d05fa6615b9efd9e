import type { SandboxFailureKind } from '../sandbox.ts'

/**
 * What the server and an interpreter's process say to each other over one pipe: a length (four bytes, big-endian), a letter, and as
 * many bytes less one of what the letter says.
 */
export const MESSAGE_TAGS = {
  /** To the interpreter, once and first: an `InterpreterStart` as JSON. */
  start: 'S',
  /** To the interpreter, second, if the start promised it: the memory of an interpreter that has just started. */
  snapshot: 'M',
  /** From the interpreter, once: it takes calls. The bytes are its memory, if it was asked to give it away. */
  ready: 'R',
  /** To the interpreter: the `BoundScript`, as JSON, that all further calls are of. */
  bind: 'B',
  /** To the interpreter: a call; the arguments are a JSON array. One of the next four answers it. */
  call: 'C',
  /** What the call returned, as JSON. */
  value: 'V',
  /** The call returned nothing. */
  nothing: 'U',
  /** A `ReportedFailure` as JSON. */
  failure: 'F',
  /** A `ReportedFailure` as JSON, after which the interpreter is of no more use. */
  lastFailure: 'X',
} as const

export type MessageTag = (typeof MESSAGE_TAGS)[keyof typeof MESSAGE_TAGS]

/** What an interpreter is. */
export interface InterpreterStart {
  readonly runtime: 'python' | 'javascript' | 'typescript'
  readonly memoryBytes: number
  readonly resultBytes: number
  /** The process that started it, without which it has no reason to live. */
  readonly parent: number
  /** Whether a snapshot to start from comes next, or is to be made, or neither. */
  readonly snapshot: 'given' | 'wanted' | 'none'
}

/** What the calls are of. */
export interface BoundScript {
  readonly script: string
  readonly entryPoint: string
}

export interface ReportedFailure {
  readonly kind: SandboxFailureKind
  readonly message: string
  readonly stacktrace?: readonly string[]
}

/** The messages a runtime answers a call with. */
export interface ScriptReply {
  readonly letter: 'V' | 'U' | 'F' | 'X'
  readonly text: string
}

/** An interpreter in which nothing has run yet. */
export interface ScriptInterpreter {
  /** Makes it the interpreter of this script. What is wrong with the script is the answer to every call. */
  readonly bind: (script: BoundScript) => void
  /** Calls the script's entry point. */
  readonly call: (args: string) => ScriptReply
}

import type { SandboxFailureKind } from '../sandbox.ts'

/**
 * The messages between the server and an interpreter's process over one pipe: the length of the rest (four bytes, big-endian), a letter,
 * and the body.
 */
export const MESSAGE_TAGS = {
  /** To the interpreter, first and once: an `InterpreterStart` as JSON. */
  start: 'S',
  /** To the interpreter, second, if announced: the memory of a freshly started interpreter. */
  snapshot: 'M',
  /** From the interpreter, once: it accepts calls. The body is its memory, if requested. */
  ready: 'R',
  /** To the interpreter: the `BoundScript` of all further calls, as JSON. */
  bind: 'B',
  /** To the interpreter: a call with its arguments as a JSON array. It is answered by one of the next four. */
  call: 'C',
  /** The call's result as JSON. */
  value: 'V',
  /** The call returned nothing. */
  nothing: 'U',
  /** A `ReportedFailure` as JSON. */
  failure: 'F',
  /** A `ReportedFailure` as JSON; the interpreter is unusable afterwards. */
  lastFailure: 'X',
} as const

export type MessageTag = (typeof MESSAGE_TAGS)[keyof typeof MESSAGE_TAGS]

export interface InterpreterStart {
  readonly runtime: 'python' | 'javascript' | 'typescript'
  readonly memoryBytes: number
  readonly resultBytes: number
  /** The server's process id; without the server, the interpreter ends. */
  readonly parent: number
  /** Whether a snapshot follows, is requested, or neither. */
  readonly snapshot: 'given' | 'wanted' | 'none'
}

export interface BoundScript {
  readonly script: string
  readonly entryPoint: string
}

export interface ReportedFailure {
  readonly kind: SandboxFailureKind
  readonly message: string
  readonly stacktrace?: readonly string[]
}

/** The reply to a call. */
export interface ScriptReply {
  readonly letter: 'V' | 'U' | 'F' | 'X'
  readonly text: string
}

/** An interpreter in which no script has run. */
export interface ScriptInterpreter {
  /** Binds the interpreter to a script. Errors of the script are reported by every call. */
  readonly bind: (script: BoundScript) => void
  /** Calls the script's entry point. */
  readonly call: (args: string) => ScriptReply
}

/** When a client sent a request and when it had the answer, by one clock; and who and what it was, for people. */
export interface Interval {
  readonly start: number
  readonly end: number
  readonly client: string
}

/** Acknowledged: made the version that carries `token`, a message of its own. */
export interface Write extends Interval {
  readonly kind: 'write'
  readonly token: string
  /** The version that the answer named, where it names one. */
  readonly version?: number
  /** The version that had to be the latest, for a compare-and-set. */
  readonly base?: number
}

/** A compare-and-set that was refused because `base` was the latest no more. */
export interface Refused extends Interval {
  readonly kind: 'refused'
  readonly token: string
  readonly base: number
}

/** Without an answer that says whether it was done. */
export interface Unsure extends Interval {
  readonly kind: 'unsure'
  readonly token: string
}

/** Was told that `version` is the latest, and that it holds `value` under `key`. */
export interface Read extends Interval {
  readonly kind: 'read'
  readonly version: number
  readonly key: string
  readonly value: string
}

/** What a client did to a register (a variant, or an environment), and what it was told. */
export type Operation = Write | Refused | Unsure | Read

/** A version of a register, as git has it afterwards. */
export interface Version {
  readonly token: string
  readonly values: ReadonlyMap<string, string>
}

/** Everything that happened to one register. */
export interface Register {
  /** Version 1 first. */
  readonly versions: readonly Version[]
  /** So many of the versions were there before the first operation. */
  readonly before: number
  readonly operations: readonly Operation[]
}

import type { Reference } from '../../reference.ts'

/** Where a revision stands in the order of lists: by date, of one second by version, then by oid and by artifact. */
export interface RevisionKey {
  readonly seconds: number
  readonly depth: number
  readonly oid: string
  readonly digits: string
}

/** What a list of revisions asks that can be told without decoding them. Everything given must hold. */
export interface RevisionQuestion {
  readonly family: string
  /** Whether the newest comes first. */
  readonly isDown: boolean
  /** Seconds since 1970, each end included; one after the other in the order of the list. */
  readonly spans: readonly (readonly [from: number, to: number])[]
  /** Only what comes after it in the order of the list. */
  readonly behind?: RevisionKey | undefined
  readonly includeArchived: boolean
  /** What flags of the artifact have to be; one that is not there counts as false. */
  readonly flags: readonly (readonly [name: string, value: boolean])[]
  /** Of each list, one names its artifact … */
  readonly artifacts: readonly (readonly Reference[])[]
  /** … and the id of that ends in one of these digits. */
  readonly digits?: readonly string[] | undefined
  /** Of each list, one names a variant that holds it. */
  readonly variants: readonly (readonly Reference[])[]
  /** As git has them, or by id. */
  readonly authors?: readonly string[] | undefined
  /** In lower case: what the message holds. One too long to be kept may hold it. */
  readonly message?: string | undefined
}

/** A revision as lists know it. */
export interface RevisionRow extends RevisionKey {
  /** The slug of its artifact. */
  readonly slug: string
  /** The slugs of the variants that hold it and that the question asks for, in no order. */
  readonly holders: readonly string[]
}

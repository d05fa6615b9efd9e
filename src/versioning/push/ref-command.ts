import { Refusal } from '../../errors.ts'
import type { Oid } from '../../git/objects/object.ts'
import type { Warning } from '../family/family.ts'

/** One ref that a push wants to move. */
export interface RefCommand {
  /** The full name, `refs/heads/main`. */
  readonly ref: string
  /** What the client saw there; undefined if the ref is to be made. */
  readonly expected: Oid | undefined
  /** Undefined if it is to be deleted. */
  readonly target: Oid | undefined
}

/** What became of a command. */
export interface RefOutcome {
  readonly ref: string
  /** Absent if the ref has moved. */
  readonly refused?: RefRefusal
  /** The revision that a branch has come to, for its pusher to know. */
  readonly revision?: { readonly id: string; readonly slug: string }
  /** What the pusher should know of what was taken. */
  readonly warnings?: readonly Warning[]
}

/** Why a ref stays as it is. */
export interface RefRefusal {
  readonly reason: string
  readonly sentence: string
}

/** A ref of a push that stays as it is: a word or two for git's table, and a whole sentence with the remedy. */
export class RefRefused extends Error {
  override readonly name = 'RefRefused'
  readonly reason: string

  constructor(reason: string, sentence: string) {
    super(sentence)
    this.reason = reason
  }
}

/** What an error has to say of a command that could not be followed; throws on what is no refusal. */
export function refRefusalOf(error: unknown): RefRefusal {
  if (error instanceof RefRefused) return { reason: error.reason, sentence: error.message }
  if (!(error instanceof Refusal)) throw error
  return { reason: error.code.replaceAll('_', ' '), sentence: error.message }
}

const HEADS = 'refs/heads/'
const TAGS = 'refs/tags/'

/** The variant's slug if the ref is a branch. */
export function branchSlug(ref: string): string | undefined {
  return ref.startsWith(HEADS) ? ref.slice(HEADS.length) : undefined
}

/** The revision's slug if the ref is a tag. */
export function tagSlug(ref: string): string | undefined {
  return ref.startsWith(TAGS) ? ref.slice(TAGS.length) : undefined
}

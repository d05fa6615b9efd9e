import { Refusal } from '../../errors.ts'
import type { Oid } from '../../git/objects.ts'
import type { Warning } from '../payload/family.ts'
import type { NamesInUse } from '../slugs/claim-slugs.ts'

/** A move of one ref in a push. */
export interface RefCommand {
  /** The full name, `refs/heads/main`. */
  readonly ref: string
  /** The value that the client saw; undefined for a new ref. */
  readonly expected: Oid | undefined
  /** Undefined to delete the ref. */
  readonly target: Oid | undefined
}

/** The outcome of a command. */
export interface RefOutcome {
  readonly ref: string
  /** Absent if the ref has moved. */
  readonly refused?: RefRefusal
  /** The branch's new revision, for the pusher. */
  readonly revision?: { readonly id: string; readonly slug: string }
  /** Warnings for the pusher. */
  readonly warnings?: readonly Warning[]
}

/** Why a ref does not move. */
export interface RefRefusal {
  readonly reason: string
  readonly sentence: string
}

/** The refusal of one ref of a push: a word or two for git's table, and a sentence with the remedy. */
export class RefRefused extends Error {
  override readonly name = 'RefRefused'
  readonly reason: string

  constructor(reason: string, sentence: string) {
    super(sentence)
    this.reason = reason
  }
}

/**
 * Refuses an invalid slug of a new branch; a variant without revisions may have its branch. A slug that was `stored` before may look like a
 * version of another variant.
 */
export function assertNewBranch(names: NamesInUse, slug: string, wasStored = false): void {
  const rival = names.rivalOfVariant(slug)
  if (!rival || (rival.is === 'variant' && rival.name === slug)) return
  if (rival.is === 'variant')
    throw taken(`The branch "${slug}" differs from the variant "${rival.name}" in case only.`)
  if (rival.is === 'tag')
    throw taken(`Revisions of the branch "${slug}" would be named as the tag "${rival.name}" is.`)
  if (!wasStored) throw taken(`The branch "${slug}" reads as a version of the variant "${rival.name}".`)
}

/** Refuses the slug of a tag that clashes with others of its artifact. */
export function assertNewTag(names: NamesInUse, slug: string): void {
  const rival = names.rivalOfTag(slug)
  if (!rival) return
  throw taken(
    rival.is === 'version'
      ? `The tag "${slug}" reads as a version of the variant "${rival.name}".`
      : `The tag "${slug}" differs from the tag "${rival.name}" in case only.`,
  )
}

function taken(sentence: string): RefRefused {
  return new RefRefused('slug taken', `${sentence} Choose another name.`)
}

/** The refusal of a command that failed with this error; rethrows other errors. */
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

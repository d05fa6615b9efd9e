import { Refusal } from '../../errors.ts'
import type { Oid } from '../../git/objects.ts'
import type { Warning } from '../payload/family.ts'
import type { NamesInUse } from '../slugs/claim-slugs.ts'

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

/**
 * Refuses the slug of a branch that is new, unless it is a variant's that has no revision yet. One that was `stored` before may read as a
 * version of another.
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

/** Refuses the slug of a tag that its artifact cannot have beside what is there. */
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

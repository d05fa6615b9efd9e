import type { ArtifactView, VariantView } from '../../artifacts/artifact-view.ts'
import type { CommitFacts } from './commit-facts.ts'
import { objectUuid } from '../../ids.ts'

/** A commit in the chain of those behind it. */
export interface ChainLink extends Omit<CommitFacts, 'parent'> {
  /** The first parent; undefined for a root. */
  readonly parent: ChainLink | undefined
  /** First-parent depth, which is the revision's version. */
  readonly depth: number
}

/** Where a revision stands in a timeline. */
export interface TimelinePlace {
  readonly artifact: ArtifactView
  readonly link: Pick<ChainLink, 'oid' | 'depth'>
  /** When it was committed, in seconds since 1970. */
  readonly seconds: number
}

/**
 * A commit on the branches of an artifact. What most questions are about is here as well as in its link: whoever goes through very many
 * rows waits for memory more than for anything else.
 */
export interface TimelineRow extends TimelinePlace, Pick<ChainLink, 'author' | 'text'> {
  readonly link: ChainLink
  /** The variants that hold it, oldest first. */
  readonly holders: readonly VariantView[]
}

/** Whether the one stands before the other: by date, of one second by version, then by id. */
export function isOlder(a: TimelinePlace, b: TimelinePlace): boolean {
  if (a.seconds !== b.seconds) return a.seconds < b.seconds
  if (a.link.depth !== b.link.depth) return a.link.depth < b.link.depth
  // What ids are made of, in their order: making them to compare them would take nine tenths of putting many in order.
  if (a.link.oid !== b.link.oid) return a.link.oid < b.link.oid
  return a.artifact.digits < b.artifact.digits
}

/** The id of the revision that stands there. */
export function idIn({ artifact, link }: TimelinePlace): string {
  return objectUuid(link.oid, artifact.digits)
}

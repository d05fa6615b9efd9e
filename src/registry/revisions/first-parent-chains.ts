import type { History, HistoryNode } from '../../git/history.ts'
import type { Oid } from '../../git/objects.ts'
import type { TimeSlice } from '../../base/scheduling.ts'

const COMMITS_BETWEEN_CLOCK_READS = 256

/** Several of the chains. */
const SHARED = ''

/**
 * The commits on the first-parent chains of some tips. All chains are walked together, level by level and only as deep as somebody asks, so
 * that each commit is met once, however many tips and questions there are.
 */
export class Chains {
  readonly #tips: ReadonlySet<Oid>
  readonly #slice: TimeSlice
  /** The tip whose chain a commit is on, or SHARED. */
  readonly #tipOf = new Map<Oid, Oid>()
  /** By depth: commits that were met and not walked yet. */
  readonly #waiting = new Map<number, Map<Oid, HistoryNode>>()
  /** Every level above this one was walked. */
  #level = 0

  private constructor(tips: ReadonlySet<Oid>, slice: TimeSlice) {
    this.#tips = tips
    this.#slice = slice
  }

  static async of(history: History, tips: ReadonlySet<Oid>, slice: TimeSlice): Promise<Chains> {
    const chains = new Chains(tips, slice)
    await slice.each(tips, async (tip) => chains.#meet(await history.node(tip), tip))
    return chains
  }

  /** Whether the commit is on any of the chains. */
  async has(node: HistoryNode): Promise<boolean> {
    if (this.#tips.has(node.oid)) return true
    await this.#walkTo(node.depth)
    return this.#tipOf.has(node.oid)
  }

  /** Whether the commit is on the chain of one tip only. */
  async isOwn(node: HistoryNode): Promise<boolean> {
    await this.#walkTo(node.depth)
    return this.#tipOf.get(node.oid) !== SHARED
  }

  async #walkTo(depth: number): Promise<void> {
    for (; this.#level > depth; this.#level--) {
      for (const { oid, parent } of this.#waiting.get(this.#level)?.values() ?? [])
        if (parent) this.#meet(parent, this.#tipOf.get(oid) ?? SHARED)
      this.#waiting.delete(this.#level)
      if (this.#level % COMMITS_BETWEEN_CLOCK_READS === 0 && this.#slice.isOver) await this.#slice.rest()
    }
  }

  #meet(node: HistoryNode, tip: Oid): void {
    const known = this.#tipOf.get(node.oid)
    this.#tipOf.set(node.oid, known === undefined || known === tip ? tip : SHARED)
    if (known !== undefined) return
    const level = this.#waiting.get(node.depth)
    if (level) level.set(node.oid, node)
    else this.#waiting.set(node.depth, new Map([[node.oid, node]]))
    this.#level = Math.max(this.#level, node.depth)
  }
}

/** Where the revisions of an artifact end, and how they are walked. */
export interface RevisionTips {
  readonly variants: readonly { readonly head: Oid | undefined }[]
  readonly tags: ReadonlyMap<string, Oid>
  readonly repository: { readonly history: History }
}

/** Finds the commits that are revisions of an artifact: those on the first-parent chains of its branches and tags. */
export function knownRevisions(
  { variants, tags, repository }: RevisionTips,
  slice: TimeSlice,
): Promise<Chains> {
  const tips = new Set(tags.values())
  for (const { head } of variants) if (head !== undefined) tips.add(head)
  return Chains.of(repository.history, tips, slice)
}

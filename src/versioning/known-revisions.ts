import type { HistoryNode } from '../git/history.ts'
import type { Oid } from '../git/object.ts'
import { TimeSlice } from '../time-slice.ts'
import type { ArtifactView } from './artifact-view.ts'

/** So many commits are walked between two looks at the clock. */
const STEPS = 256

/**
 * What is a revision of an artifact already: the commits on the first-parent chains of its branches and tags. All chains are walked
 * together, level by level and only as deep as somebody asks, so that each commit is met once, however many branches and questions there are.
 */
export class KnownRevisions {
  readonly #tips: ReadonlySet<Oid>
  readonly #slice: TimeSlice
  readonly #seen = new Set<Oid>()
  /** By depth: commits that were not walked yet. */
  readonly #waiting = new Map<number, HistoryNode[]>()
  /** Every level above this one was walked. */
  #level = 0

  private constructor(tips: ReadonlySet<Oid>, slice: TimeSlice) {
    this.#tips = tips
    this.#slice = slice
  }

  static async of({ variants, tags, repository }: ArtifactView, slice: TimeSlice): Promise<KnownRevisions> {
    const tips = new Set(tags.values())
    for (const { head } of variants) if (head !== undefined) tips.add(head)
    const known = new KnownRevisions(tips, slice)
    await slice.each(tips, async (tip) => known.#wait(await repository.history.node(tip)))
    return known
  }

  async has(node: HistoryNode): Promise<boolean> {
    if (this.#tips.has(node.oid)) return true
    for (; this.#level >= node.depth; this.#level--) {
      for (const it of this.#waiting.get(this.#level) ?? []) this.#walk(it)
      this.#waiting.delete(this.#level)
      if (this.#level % STEPS === 0 && this.#slice.isOver) await this.#slice.rest()
    }
    return this.#seen.has(node.oid)
  }

  #walk(node: HistoryNode): void {
    if (this.#seen.has(node.oid)) return
    this.#seen.add(node.oid)
    if (node.parent) this.#wait(node.parent)
  }

  #wait(node: HistoryNode): void {
    const level = this.#waiting.get(node.depth)
    if (level) level.push(node)
    else this.#waiting.set(node.depth, [node])
    this.#level = Math.max(this.#level, node.depth)
  }
}

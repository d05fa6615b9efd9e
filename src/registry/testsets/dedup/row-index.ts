import type { Oid } from '../../../git/objects.ts'
import type { PayloadTarget } from '../../payload/family.ts'
import { keyOfContent, keyOfDedupId, ROW_KEYS_FILE, RowKeys } from './row-keys.ts'
import type { RowPosition } from '../rows/row-position.ts'
import { contentOf, decodeRow, dedupIdOf, encodeContent } from '../rows/stored-row.ts'
import { TimeSlice } from '../../../base/scheduling.ts'
import { inBatches } from '../present-testset.ts'
import { rowBytes } from '../rows/stored-rows.ts'
import { rowPath } from '../testset-tree.ts'

/** What identifies a row. */
export interface RowIdentity {
  readonly dedupId: string
  readonly contentHash: string
}

/** The row keys of recently used testsets in this process. */
export const rowKeys = new RowKeys()

/** Finds the row that holds a dedup id or content, while rows are being changed. */
export class RowIndex {
  readonly #target: PayloadTarget
  readonly #tree: Oid | undefined
  /** The changed rows, and the rows of the base that were looked up. */
  readonly #rows = new Map<RowPosition, RowIdentity | undefined>()
  readonly #byDedupId = new Map<string, RowPosition>()
  readonly #byContent = new Map<string, Set<RowPosition>>()

  constructor(target: PayloadTarget, tree: Oid | undefined) {
    this.#target = target
    this.#tree = tree
  }

  /**
   * Looks up the rows of the base that may have these contents and dedup ids. Call it before `holderOf` and
   * `hasContent`.
   */
  async learn(contentHashes: readonly string[], dedupIds: readonly string[]): Promise<void> {
    const slice = new TimeSlice()
    const wanted = new Set<number>()
    await slice.each(contentHashes, (hash) => wanted.add(keyOfContent(hash)))
    await slice.each(dedupIds, (dedupId) => wanted.add(keyOfDedupId(dedupId)))
    const found = await rowKeys.candidates(
      this.#target,
      this.#tree,
      wanted,
      this.#target.derived?.(ROW_KEYS_FILE),
    )
    const unknown = found
      .filter(({ position }) => !this.#rows.has(position))
      .map(({ position, oid }) => ({ position, oid, meta: undefined }))
    for await (const batch of rowBytes(this.#target, inBatches(unknown), slice)) {
      for (const { row, data: bytes } of batch) {
        const data = decodeRow(bytes, () => rowPath(row.position))
        const { hash } = encodeContent(contentOf(data))
        this.put(row.position, { dedupId: dedupIdOf(data) ?? '', contentHash: hash })
        if (slice.isOver) await slice.rest()
      }
    }
  }

  /** The row that holds this dedup id; call `learn` first. */
  holderOf(dedupId: string): RowPosition | undefined {
    return this.#byDedupId.get(dedupId)
  }

  /** Whether a row has this content; call `learn` first. */
  hasContent(hash: string): boolean {
    return (this.#byContent.get(hash)?.size ?? 0) > 0
  }

  /** Sets the identity of the row at a position. */
  put(position: RowPosition, identity: RowIdentity): void {
    this.remove(position)
    this.#rows.set(position, identity)
    this.#byDedupId.set(identity.dedupId, position)
    const equal = this.#byContent.get(identity.contentHash) ?? new Set()
    this.#byContent.set(identity.contentHash, equal.add(position))
  }

  /** Removes the row at a position. */
  remove(position: RowPosition): void {
    const before = this.#rows.get(position)
    this.#rows.set(position, undefined)
    if (!before) return
    if (this.#byDedupId.get(before.dedupId) === position) this.#byDedupId.delete(before.dedupId)
    this.#byContent.get(before.contentHash)?.delete(position)
  }
}

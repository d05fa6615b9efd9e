/** What waits, in turns: of several owners, each gets its next one served before any gets another. */
export class FairQueue<Item extends { readonly owner: string }> {
  /** In the order of whose turn is next. */
  readonly #lines = new Map<string, Item[]>()

  /** How many wait. */
  get length(): number {
    return [...this.#lines.values()].reduce((sum, line) => sum + line.length, 0)
  }

  /** How many of an owner's wait. */
  lengthOf(owner: string): number {
    return this.#lines.get(owner)?.length ?? 0
  }

  add(item: Item): void {
    const line = this.#lines.get(item.owner)
    if (line) line.push(item)
    else this.#lines.set(item.owner, [item])
  }

  /** Takes the next one out; undefined if none waits. */
  take(): Item | undefined {
    const [first] = this.#lines
    if (!first) return undefined
    const [owner, line] = first
    const item = line.shift()
    this.#lines.delete(owner)
    if (line.length > 0) this.#lines.set(owner, line)
    return item
  }

  /** Takes this one out, if it still waits. */
  remove(item: Item): void {
    const line = this.#lines.get(item.owner)
    const place = line?.indexOf(item) ?? -1
    if (!line || place < 0) return
    line.splice(place, 1)
    if (line.length === 0) this.#lines.delete(item.owner)
  }
}

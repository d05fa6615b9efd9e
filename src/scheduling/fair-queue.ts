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

  /** Takes the next one out, of the owners that may have their turn; undefined if none of them waits. */
  take(mayHave: (owner: string) => boolean = () => true): Item | undefined {
    const owner = this.#nextOwner(mayHave)
    const line = owner === undefined ? undefined : this.#lines.get(owner)
    if (owner === undefined || !line) return undefined
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

  #nextOwner(mayHave: (owner: string) => boolean): string | undefined {
    for (const owner of this.#lines.keys()) if (mayHave(owner)) return owner
    return undefined
  }
}

import { type Json, type JsonObject, entriesOf, fromEntries, getKey, isJsonObject } from './json.ts'

/**
 * `target` without the members that `paths` lead to, key by key through objects. A path that leads nowhere (a missing key, something
 * that is no object on the way, no key at all) is passed over. Each object is copied once, however many paths go through it; what none
 * changes is shared.
 */
export function removePaths(target: JsonObject, paths: readonly (readonly string[])[]): JsonObject {
  const root = new Removal()
  for (const path of paths) root.add(target, path)
  return root.from(target)
}

/** What is to be removed of an object: itself, or some of what is in it. */
class Removal {
  readonly #below = new Map<string, Removal>()
  #isWhole = false

  /** Goes no further than there is something. */
  add(target: JsonObject, path: readonly string[]): void {
    let at: Removal = this
    let object: JsonObject = target
    for (const [index, key] of path.entries()) {
      const member = getKey(object, key)
      if (member === undefined || at.#isWhole) return
      let next = at.#below.get(key)
      if (!next) at.#below.set(key, (next = new Removal()))
      at = next
      if (index === path.length - 1) at.#isWhole = true
      else if (isJsonObject(member)) object = member
      else return
    }
  }

  from(target: JsonObject): JsonObject {
    if (this.#below.size === 0) return target
    let isChanged = false
    const kept: [string, Json][] = []
    for (const [key, member] of entriesOf(target)) {
      const removal = this.#below.get(key)
      const left = removal && isJsonObject(member) ? removal.from(member) : member
      const isGone = removal !== undefined && removal.#isWhole
      if (isGone || left !== member) isChanged = true
      if (!isGone) kept.push([key, left])
    }
    return isChanged ? fromEntries(kept) : target
  }
}

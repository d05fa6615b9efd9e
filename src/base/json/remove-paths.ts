import { type Json, type JsonObject, entriesOf, fromEntries, getKey, isJsonObject } from './json.ts'

/**
 * Removes members at these paths, key by key through objects. Paths that lead nowhere (a missing key, no
 * object on the path, an empty path) are skipped. Each object is copied at most once; unchanged parts are
 * shared.
 */
export function removePaths(target: JsonObject, paths: readonly (readonly string[])[]): JsonObject {
  const root = new Removal()
  for (const path of paths) root.add(target, path)
  return root.from(target)
}

/** What to remove from an object: itself, or parts of its content. */
class Removal {
  readonly #below = new Map<string, Removal>()
  #isWhole = false

  /** Follows the path only as far as it exists. */
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

/**
 * Yields `items` in order, one at a time: who wants the first few of very many does not pay for sorting the others. The array
 * is used up. Of two items none of which is before the other, either may come first.
 */
export function* inOrder<T extends object>(items: T[], isBefore: (a: T, b: T) => boolean): Generator<T> {
  // A binary heap: the children of n are 2n + 1 and 2n + 2, and none of them is before n.
  for (let at = (items.length >>> 1) - 1; at >= 0; at--) sink(items, at, isBefore)
  for (;;) {
    const [first] = items
    const last = items.pop()
    if (first === undefined || last === undefined) return
    if (items.length > 0) {
      items[0] = last
      sink(items, 0, isBefore)
    }
    yield first
  }
}

function sink<T extends object>(items: T[], from: number, isBefore: (a: T, b: T) => boolean): void {
  const item = items[from]! // from < items.length
  let at = from
  for (let child = 2 * at + 1; child < items.length; child = 2 * at + 1) {
    let least: T = items[child]! // child < items.length
    const other = items[child + 1]
    if (other !== undefined && isBefore(other, least)) {
      least = other
      child++
    }
    if (!isBefore(least, item)) break
    items[at] = least
    at = child
  }
  items[at] = item
}

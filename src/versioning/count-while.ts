/**
 * The number of the first item from number `from` up to `to` that is not so, `to` if all are. To be told by halving: no item that is so
 * stands behind one that is not.
 */
export function countWhile<T>(
  items: readonly T[],
  isSo: (item: T) => boolean,
  from = 0,
  to = items.length,
): number {
  let [low, high] = [from, to]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isSo(items[middle]!))
      low = middle + 1 // within the bounds
    else high = middle
  }
  return low
}

/**
 * The number of the first item from number `from` up to `to` that is not so, `to` if all are. No item that is so stands behind one that
 * is not, so it is found in strides that double, and halve again: the nearer it is the sooner.
 */
export function countWhile<T>(
  items: readonly T[],
  isSo: (item: T) => boolean,
  from = 0,
  to = items.length,
): number {
  let [low, stride] = [from, 1]
  // Every item below `low` is so; each one looked at lies within the bounds.
  for (; low + stride <= to && isSo(items[low + stride - 1]!); stride *= 2) low += stride
  let high = Math.min(low + stride - 1, to)
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isSo(items[middle]!)) low = middle + 1
    else high = middle
  }
  return low
}

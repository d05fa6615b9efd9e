import type { InSlices } from '../../base/scheduling.ts'
import type { Sides } from './merging.ts'

/** An order of items known by ids, each once per side. */
export interface MergedOrder {
  readonly order: readonly string[]
  /** Whether both sides moved an item to different places; it then stays where `preferred` has it. */
  readonly isContested: boolean
}

/**
 * Merges the order of the remaining items of three lists: the target's order with the source's moves; items that only the source has follow
 * their neighbours there. If both sides added items behind the same neighbour, the target's come first. If both moved an item, `preferred`
 * decides.
 */
export function* mergeOrder(
  { base, target, source }: Sides<readonly string[]>,
  isLeft: (id: string) => boolean,
  preferred: keyof Sides<unknown> = 'target',
): InSlices<MergedOrder> {
  const ofTarget = movedIds(base, target)
  yield
  const moved = { target: ofTarget, source: movedIds(base, source) }
  yield
  const [inBase, inTarget, inSource] = [new Set(base), new Set(target), new Set(source)]
  const isStable = (id: string): boolean =>
    inBase.has(id) && inTarget.has(id) && inSource.has(id) && !moved.target.has(id) && !moved.source.has(id)
  const behind = {
    base: neighbours(base, isStable),
    target: neighbours(target, isStable),
    source: neighbours(source, isStable),
  }
  yield
  const contested = new Set(
    [...moved.target].filter((id) => moved.source.has(id) && behind.target.get(id) !== behind.source.get(id)),
  )
  /** The side whose place of an item counts. */
  const sideOf = (id: string): keyof Sides<unknown> => {
    if (contested.has(id)) return preferred
    if (!inTarget.has(id)) return inSource.has(id) ? 'source' : 'base'
    return moved.source.has(id) && !moved.target.has(id) ? 'source' : 'target'
  }
  const putIn = new Map<string, string[]>()
  for (const [ids, side] of [
    [source, 'source'],
    [base, 'base'],
  ] as const) {
    for (const id of ids) {
      if (!isLeft(id) || sideOf(id) !== side) continue
      const neighbour = behind[side].get(id) ?? ''
      pushTo(putIn, neighbour, id)
    }
    yield
  }
  const order: string[] = []
  const put = (neighbour: string): void => {
    for (const id of putIn.get(neighbour) ?? []) order.push(id)
  }
  let neighbour = ''
  for (const id of target) {
    if (isStable(id)) {
      put(neighbour)
      neighbour = id
    }
    if (isLeft(id) && sideOf(id) === 'target') order.push(id)
  }
  put(neighbour)
  return { order, isContested: contested.size > 0 }
}

/** Appends to the list under a key in place, because copying it for each item would be quadratic. */
export function pushTo<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key)
  if (list) list.push(value)
  else lists.set(key, [value])
}

/** The nearest stable item before each one; empty for the first. */
function neighbours(ids: readonly string[], isStable: (id: string) => boolean): ReadonlyMap<string, string> {
  const before = new Map<string, string>()
  let last = ''
  for (const id of ids) {
    before.set(id, last)
    if (isStable(id)) last = id
  }
  return before
}

/** Common items in a different order: all except a longest increasing run. */
function movedIds(base: readonly string[], head: readonly string[]): ReadonlySet<string> {
  const places = new Map(base.map((id, at) => [id, at]))
  const common = head.flatMap((id) => {
    const place = places.get(id)
    return place === undefined ? [] : [{ id, place }]
  })
  // patience sorting: the lowest end of an increasing run of each length, and each item's predecessor
  const ends: number[] = []
  const before: number[] = []
  for (const [at, { place }] of common.entries()) {
    let [low, high] = [0, ends.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((common[ends[middle] ?? 0]?.place ?? 0) < place) low = middle + 1
      else high = middle
    }
    before[at] = low === 0 ? -1 : (ends[low - 1] ?? -1)
    ends[low] = at
  }
  const moved = new Set(common.map(({ id }) => id))
  for (let at = ends.at(-1) ?? -1; at >= 0; at = before[at] ?? -1) moved.delete(common[at]?.id ?? '')
  return moved
}

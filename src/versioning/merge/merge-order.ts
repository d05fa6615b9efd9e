import type { InSlices } from '../../scheduling/cooperative.ts'
import type { Sides } from './merging.ts'

/** An order of things that are known by ids, each once on a side. */
export interface MergedOrder {
  readonly order: readonly string[]
  /** Whether both sides moved one thing, to different places: it is where the target has it then. */
  readonly isContested: boolean
}

/**
 * The order of what is left of three lists: the target's, in which the source's moves are made, and what only the source has stands behind
 * its neighbour there. Where both put something behind the same neighbour, the target's comes first. Of what both moved, `preferred`
 * says whose place counts.
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
  /** Whose place of a thing counts. */
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

/** Adds to the list under a key; in place, since copying a long list for each item would take the square of it. */
export function pushTo<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key)
  if (list) list.push(value)
  else lists.set(key, [value])
}

/** The nearest stable thing before each one; empty for the first. */
function neighbours(ids: readonly string[], isStable: (id: string) => boolean): ReadonlyMap<string, string> {
  const before = new Map<string, string>()
  let last = ''
  for (const id of ids) {
    before.set(id, last)
    if (isStable(id)) last = id
  }
  return before
}

/** What of both lists does not stand in the same order: all but a longest run that does. */
function movedIds(base: readonly string[], head: readonly string[]): ReadonlySet<string> {
  const places = new Map(base.map((id, at) => [id, at]))
  const common = head.flatMap((id) => {
    const place = places.get(id)
    return place === undefined ? [] : [{ id, place }]
  })
  // patience sorting: the lowest end of a rising run of each length, and what stands before each
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

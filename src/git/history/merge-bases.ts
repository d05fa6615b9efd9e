import { Refusal } from '../../errors.ts'
import type { TimeSlice } from '../../base/scheduling.ts'
import { parseCommit } from '../objects/object.ts'
import type { GitObject, Oid } from '../objects/object.ts'

/** Where commits are read from: an object database, or a transaction, which has commits that are on no disk yet. */
export interface CommitReader {
  read(oid: Oid): Promise<GitObject | undefined>
}

/** What two commits have in common. */
export interface CommonHistory {
  /** The merge bases, as `git merge-base --all` has them: common ancestors that no other one has among its ancestors. */
  readonly bases: readonly Oid[]
  /** Whether the commit is an ancestor of the first one, or that itself. Only asked of the second one and its ancestors. */
  isInFirst(oid: Oid): boolean
  /** The same the other way round. */
  isInSecond(oid: Oid): boolean
}

/** What is known of a commit in a walk: which side reaches it, and whether it lies behind a common ancestor. */
interface Walked {
  readonly oid: Oid
  readonly seconds: number
  readonly parents: readonly Oid[]
  flags: number
}

const FIRST = 1
const SECOND = 2
const BOTH = FIRST | SECOND
/** Reached from a common ancestor, so no base itself. */
const STALE = 4

/**
 * Walks back from two commits until all that they have in common is known; the newest commits first, as git does, so that what lies
 * behind is not read. Refuses with `damaged_repository` a commit that is missing.
 */
export async function commonHistory(
  source: CommitReader,
  first: Oid,
  second: Oid,
  slice: TimeSlice,
): Promise<CommonHistory> {
  const walked = await paint(source, first, second, slice)
  const candidates = [...walked.values()].filter(({ flags }) => flags === BOTH)
  const has =
    (flag: number) =>
    (oid: Oid): boolean =>
      ((walked.get(oid)?.flags ?? 0) & flag) !== 0
  return {
    bases: (await withoutAncestors(source, candidates, slice)).map(({ oid }) => oid),
    isInFirst: has(FIRST),
    isInSecond: has(SECOND),
  }
}

/** Whether `ancestor` is reached from `descendant`, by any parents, or is it. */
export async function isAncestor(
  source: CommitReader,
  ancestor: Oid,
  descendant: Oid,
  slice: TimeSlice,
): Promise<boolean> {
  if (ancestor === descendant) return true
  return (await paint(source, ancestor, descendant, slice)).get(ancestor)?.flags === BOTH
}

/** The commits of the first-parent chain that ends in `head`, newest first, for as long as `isWanted` says so. */
export async function firstParentsWhile(
  source: CommitReader,
  head: Oid,
  isWanted: (oid: Oid) => boolean,
  slice: TimeSlice,
): Promise<readonly Oid[]> {
  const chain: Oid[] = []
  for (let oid: Oid | undefined = head; oid !== undefined && isWanted(oid);) {
    chain.push(oid)
    oid = (await readCommit(source, oid)).parents[0]
    await slice.pause()
  }
  return chain
}

async function paint(
  source: CommitReader,
  first: Oid,
  second: Oid,
  slice: TimeSlice,
): Promise<ReadonlyMap<Oid, Walked>> {
  const walked = new Map<Oid, Walked>()
  const queue = new NewestFirst()
  const reach = async (oid: Oid, flags: number): Promise<void> => {
    const before = walked.get(oid)
    if (before && (before.flags & flags) === flags) return
    const commit = before ?? { oid, flags: 0, ...(await readCommit(source, oid)) }
    commit.flags |= flags
    walked.set(oid, commit)
    queue.put(commit)
  }
  await reach(first, FIRST)
  await reach(second, SECOND)
  /** Of the commits that only one side was seen to reach; an older one cannot be shown to be common by what is younger. */
  let oldest = Number.POSITIVE_INFINITY
  for (let commit = queue.take(); commit; commit = queue.take()) {
    if ((commit.flags & BOTH) !== BOTH) oldest = Math.min(oldest, commit.seconds)
    else if (commit.seconds < oldest && queue.isAllCommon && (commit.flags & STALE) !== 0) break
    const flags = (commit.flags & BOTH) === BOTH ? BOTH | STALE : commit.flags
    for (const parent of commit.parents) await reach(parent, flags)
    await slice.pause()
  }
  return walked
}

/** Up to this many candidates are compared pair by pair, which reads little of the history behind them. */
const FEW = 16

/** Odd dates may let an ancestor of a base pass for one. */
async function withoutAncestors(
  source: CommitReader,
  candidates: readonly Walked[],
  slice: TimeSlice,
): Promise<readonly Walked[]> {
  if (candidates.length < 2) return candidates
  const kept =
    candidates.length > FEW
      ? await notBehind(source, candidates, slice)
      : await notBehindEachOther(source, candidates, slice)
  return [...kept].sort((a, b) => b.seconds - a.seconds || (a.oid < b.oid ? -1 : 1))
}

async function notBehindEachOther(
  source: CommitReader,
  candidates: readonly Walked[],
  slice: TimeSlice,
): Promise<readonly Walked[]> {
  const kept: Walked[] = []
  for (const one of candidates) {
    let isBehind = false
    for (const other of candidates)
      isBehind ||= one !== other && (await isAncestor(source, one.oid, other.oid, slice))
    if (!isBehind) kept.push(one)
  }
  return kept
}

/** The same of very many, by one walk through all that lies behind them. */
async function notBehind(
  source: CommitReader,
  candidates: readonly Walked[],
  slice: TimeSlice,
): Promise<readonly Walked[]> {
  const reached = new Set<Oid>()
  const waiting = candidates.flatMap(({ parents }) => parents)
  for (let oid = waiting.pop(); oid !== undefined; oid = waiting.pop()) {
    if (reached.has(oid)) continue
    reached.add(oid)
    for (const parent of (await readCommit(source, oid)).parents) waiting.push(parent)
    await slice.pause()
  }
  return candidates.filter(({ oid }) => !reached.has(oid))
}

async function readCommit(source: CommitReader, oid: Oid): Promise<Pick<Walked, 'seconds' | 'parents'>> {
  const object = await source.read(oid)
  if (object?.kind !== 'commit') {
    throw new Refusal(
      'damaged_repository',
      `The commit ${oid} is missing from the repository. Restore the repository from a clone.`,
    )
  }
  const { parents, committer } = parseCommit(object.bytes)
  return { parents, seconds: committer.seconds }
}

/** A heap of commits, the newest on top. One whose flags changed while it waits is put in again. */
class NewestFirst {
  readonly #heap: Walked[] = []
  readonly #waiting = new Map<Walked, number>()
  /** Those that wait and that only one side was seen to reach. */
  readonly #ofOne = new Set<Walked>()

  /** Whether there are none of these. */
  get isAllCommon(): boolean {
    return this.#ofOne.size === 0
  }

  put(commit: Walked): void {
    if ((commit.flags & BOTH) === BOTH) this.#ofOne.delete(commit)
    else this.#ofOne.add(commit)
    this.#waiting.set(commit, (this.#waiting.get(commit) ?? 0) + 1)
    const heap = this.#heap
    let at = heap.push(commit) - 1
    while (at > 0) {
      const above = (at - 1) >> 1
      if (!isNewer(heap[at], heap[above])) break
      this.#swap(at, above)
      at = above
    }
  }

  take(): Walked | undefined {
    const heap = this.#heap
    this.#swap(0, heap.length - 1)
    const top = heap.pop()
    for (let at = 0; ;) {
      const [left, right] = [2 * at + 1, 2 * at + 2]
      const newer = isNewer(heap[right], heap[left]) ? right : left
      if (!isNewer(heap[newer], heap[at])) break
      this.#swap(at, newer)
      at = newer
    }
    if (top) {
      const left = (this.#waiting.get(top) ?? 1) - 1
      if (left > 0) this.#waiting.set(top, left)
      else {
        this.#waiting.delete(top)
        this.#ofOne.delete(top)
      }
    }
    return top
  }

  #swap(a: number, b: number): void {
    const heap = this.#heap
    const [one, other] = [heap[a], heap[b]]
    if (one && other) [heap[a], heap[b]] = [other, one]
  }
}

function isNewer(one: Walked | undefined, other: Walked | undefined): boolean {
  return one !== undefined && other !== undefined && one.seconds > other.seconds
}

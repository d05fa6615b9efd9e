import { Refusal } from '../../errors.ts'
import type { TimeSlice } from '../../base/scheduling.ts'
import { parseCommit } from '../objects/object.ts'
import type { GitObject, Oid } from '../objects/object.ts'

/** Reads commits: an object database, or a transaction, whose commits may not be on the disk yet. */
export interface CommitReader {
  read(oid: Oid): Promise<GitObject | undefined>
}

/** The common history of two commits. */
export interface CommonHistory {
  /** The merge bases, as `git merge-base --all` has them: common ancestors that are not ancestors of another one. */
  readonly bases: readonly Oid[]
  /** Whether the commit is the first one or an ancestor of it. Only for the second one and its ancestors. */
  isInFirst(oid: Oid): boolean
  /** The same with first and second exchanged. */
  isInSecond(oid: Oid): boolean
}

/** A commit during a walk: which side reaches it, and whether it is an ancestor of a common ancestor. */
interface Walked {
  readonly oid: Oid
  readonly seconds: number
  readonly parents: readonly Oid[]
  flags: number
}

const FIRST = 1
const SECOND = 2
const BOTH = FIRST | SECOND
/** Reached from a common ancestor, so not a base itself. */
const STALE = 4

/**
 * Walks back from two commits until their whole common history is known; newest commits first, as git does, so that older history is not
 * read. Refuses a missing commit with `damaged_repository`.
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

/** Whether `ancestor` is `descendant` or is reached from it by any parents. */
export async function isAncestor(
  source: CommitReader,
  ancestor: Oid,
  descendant: Oid,
  slice: TimeSlice,
): Promise<boolean> {
  if (ancestor === descendant) return true
  return (await paint(source, ancestor, descendant, slice)).get(ancestor)?.flags === BOTH
}

/** The commits of the first-parent chain that ends in `head`, newest first, until `isWanted` answers false. */
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
  /** The oldest date of the commits that only one side has reached so far. */
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

/** Up to this many candidates are compared in pairs, which reads little of the history behind them. */
const FEW = 16

/** Removes candidates that are ancestors of others; wrong dates in commits can cause them. */
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

/** The same for many candidates, with one walk through the history behind them. */
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

/** A heap of commits, the newest on top. A commit whose flags change while it waits is added again. */
class NewestFirst {
  readonly #heap: Walked[] = []
  readonly #waiting = new Map<Walked, number>()
  /** Waiting commits that only one side has reached so far. */
  readonly #ofOne = new Set<Walked>()

  /** Whether both sides have reached every waiting commit. */
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

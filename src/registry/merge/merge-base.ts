import { Refusal } from '../../errors.ts'
import { commonHistory } from '../../git/history.ts'
import { encodeCommit, parseCommit, type Oid } from '../../git/objects.ts'
import type { TimeSlice } from '../../base/scheduling.ts'
import type { Family } from '../payload/family.ts'
import { readBytes, writeTree } from '../payload/tree-files.ts'
import type { Registry } from '../store/registry.ts'
import type { MergedSide } from './merge-revisions.ts'
import { mergeRevisions, NOTHING, readMergeSide } from './merge-revisions.ts'
import type { MergeEffort } from './merging.ts'
import { MergingBases } from './merging.ts'
import type { ScratchObjects } from './scratch-objects.ts'

/** Maximum merge bases of two commits. */
const MOST_BASES = 16
/** Maximum levels down to which these and their own merge bases are merged. */
const MOST_LEVELS = 8
/** Maximum merges for this. */
const MOST_MERGES = MOST_BASES * MOST_LEVELS

/** The inputs of merging bases, and the results so far. */
export interface BaseWork {
  readonly registry: Registry
  readonly family: Family
  readonly scratch: ScratchObjects
  readonly slice: TimeSlice
  readonly effort: MergeEffort
  /** Results of merged bases, by the virtual commits that stand for them. */
  readonly made: Map<Oid, MergedSide>
  /** The virtual commits that stand for bases, by these bases. */
  readonly ofBases: Map<string, Oid>
}

/**
 * The merge base of two commits; several are first merged with one another, as git does. Undefined if the histories have nothing in common.
 * Refuses with `too_many_merge_bases` if this takes more merges than real histories need.
 */
export async function mergeBase(
  work: BaseWork,
  bases: readonly Oid[],
  level = 1,
): Promise<MergedSide | undefined> {
  const [one, ...others] = bases.toReversed()
  if (one === undefined) return undefined
  return mergeSide(work, others.length === 0 ? one : await joinedBases(work, bases, level))
}

/** A commit, real or virtual, as a side of a merge. */
export async function mergeSide(
  { made, registry, family, scratch }: BaseWork,
  oid: Oid,
): Promise<MergedSide> {
  return made.get(oid) ?? readMergeSide(registry, family, scratch, oid)
}

/** The virtual commit that stands for several bases. */
async function joinedBases(work: BaseWork, bases: readonly Oid[], level: number): Promise<Oid> {
  if (bases.length > MOST_BASES) throw tooManyBases(`They have ${bases.length} merge bases`)
  if (level > MOST_LEVELS)
    throw tooManyBases(
      `Their merge bases have several merge bases of their own, on more than ${MOST_LEVELS} levels`,
    )
  const known = work.ofBases.get(bases.join())
  if (known !== undefined) return known
  const [first = '', ...others] = bases.toReversed()
  let one = first
  for (const other of others) one = await joined(work, one, other, level)
  work.ofBases.set(bases.join(), one)
  return one
}

/** A virtual commit, never stored, that stands for two. */
async function joined(work: BaseWork, target: Oid, source: Oid, level: number): Promise<Oid> {
  const { scratch, slice, made } = work
  if (made.size === MOST_MERGES)
    throw tooManyBases(`Making one base of theirs takes more than ${MOST_MERGES} merges`)
  const { bases } = await commonHistory(scratch, target, source, slice)
  const sides = {
    base: (await mergeBase(work, bases, level + 1)) ?? NOTHING,
    target: await mergeSide(work, target),
    source: await mergeSide(work, source),
  }
  const side = await writeSide(work, sides)
  const [one, other] = [await readCommit(scratch, target), await readCommit(scratch, source)]
  const { author, committer } = one.committer.seconds < other.committer.seconds ? other : one
  const tree = side.tree ?? writeTree(scratch, [])
  const commit = encodeCommit({ tree, parents: [target, source], author, committer, message: '' })
  const oid = scratch.write('commit', commit)
  made.set(oid, side)
  return oid
}

async function writeSide(
  { registry, family, scratch, slice, effort }: BaseWork,
  sides: Parameters<typeof mergeRevisions>[1],
): Promise<MergedSide> {
  const context = { target: scratch, slice, servicesBase: registry.servicesBase }
  const result = await mergeRevisions(family, sides, new MergingBases(effort), context)
  if ('is' in result) return result.is
  const { payload, before, onto, other, header } = result
  const carried = before.filter(({ name }) => !family.ownsFile(name))
  // The result is never committed, and it may hold the content of both sides.
  const limits = { ...registry.limits, maxDocumentBytes: Infinity }
  const written = payload && (await family.write(scratch, payload, before, limits, { parent: onto, other }))
  const entries = [...carried, ...(written?.entries ?? [])]
  return {
    tree: writeTree(scratch, entries),
    entries,
    header,
    payload: written?.stored?.payload,
    size: written?.stored?.size ?? 0,
    files: written?.stored?.files,
  }
}

async function readCommit(scratch: ScratchObjects, oid: Oid) {
  return parseCommit(await readBytes(scratch, oid, 'commit'))
}

function tooManyBases(why: string): Refusal {
  return new Refusal(
    'too_many_merge_bases',
    `The two sides were merged into one another so often that what they have in common cannot be told. ${why}; at most ${MOST_BASES} are ` +
      `taken, and theirs on ${MOST_LEVELS} levels. Clone the repository, merge there with git, and push the result.`,
  )
}

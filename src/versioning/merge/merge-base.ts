import { Refusal } from '../../errors.ts'
import { commonHistory } from '../../git/history/merge-bases.ts'
import { encodeCommit, parseCommit } from '../../git/objects/object.ts'
import type { Oid } from '../../git/objects/object.ts'
import type { TimeSlice } from '../../scheduling/cooperative.ts'
import type { Family } from '../family/family.ts'
import { readBytes, writeTree } from '../family/tree-files.ts'
import type { Registry } from '../registry.ts'
import type { MergedSide } from './merge-revisions.ts'
import { mergeRevisions, NOTHING, readMergeSide } from './merge-revisions.ts'
import type { MergeEffort } from './merging.ts'
import { MergingBases } from './merging.ts'
import type { ScratchObjects } from './scratch-objects.ts'

/** Two commits have no more merge bases than so many, … */
const MOST_BASES = 16
/** … these, and theirs in turn, are merged down to so many levels … */
const MOST_LEVELS = 8
/** … and in so many merges. */
const MOST_MERGES = MOST_BASES * MOST_LEVELS

/**
 * Makes one base of the merge bases of two commits; several are merged with one another first, as git does. Refuses with
 * `too_many_merge_bases` what would take more merges than anybody's history does.
 */
export class MergeBase {
  readonly #registry: Registry
  readonly #family: Family
  readonly #scratch: ScratchObjects
  readonly #slice: TimeSlice
  readonly #effort: MergeEffort
  /** What came of bases that were merged, by the commits that stand for them. */
  readonly #made = new Map<Oid, MergedSide>()
  /** The commits that stand for bases, by these. */
  readonly #ofBases = new Map<string, Oid>()

  constructor(
    registry: Registry,
    family: Family,
    scratch: ScratchObjects,
    slice: TimeSlice,
    effort: MergeEffort,
  ) {
    this.#registry = registry
    this.#family = family
    this.#scratch = scratch
    this.#slice = slice
    this.#effort = effort
  }

  /** The base that these are; undefined stands for a history that has nothing in common. */
  async of(bases: readonly Oid[]): Promise<MergedSide | undefined> {
    return this.#of(bases, 1)
  }

  async #of(bases: readonly Oid[], level: number): Promise<MergedSide | undefined> {
    if (bases.length > MOST_BASES) throw tooManyBases(`They have ${bases.length} merge bases`)
    let [one, ...others] = bases.toReversed()
    if (one === undefined) return undefined
    if (others.length > 0 && level > MOST_LEVELS)
      throw tooManyBases(
        `Their merge bases have several merge bases of their own, on more than ${MOST_LEVELS} levels`,
      )
    const known = this.#ofBases.get(bases.join())
    if (known !== undefined) return this.side(known)
    for (const other of others) one = await this.#merged(one, other, level)
    this.#ofBases.set(bases.join(), one)
    return this.side(one)
  }

  async side(oid: Oid): Promise<MergedSide> {
    return this.#made.get(oid) ?? readMergeSide(this.#registry, this.#family, this.#scratch, oid)
  }

  /** A commit that nobody sees, which stands for two. */
  async #merged(target: Oid, source: Oid, level: number): Promise<Oid> {
    if (this.#made.size === MOST_MERGES)
      throw tooManyBases(`Making one base of theirs takes more than ${MOST_MERGES} merges`)
    const { bases } = await commonHistory(this.#scratch, target, source, this.#slice)
    const sides = {
      base: (await this.#of(bases, level + 1)) ?? NOTHING,
      target: await this.side(target),
      source: await this.side(source),
    }
    const made = await this.#write(sides)
    const [one, other] = [await this.#commit(target), await this.#commit(source)]
    const newer = one.committer.seconds < other.committer.seconds ? other : one
    const tree = made.tree ?? writeTree(this.#scratch, [])
    const { author, committer } = newer
    const commit = encodeCommit({ tree, parents: [target, source], author, committer, message: '' })
    const oid = this.#scratch.write('commit', commit)
    this.#made.set(oid, made)
    return oid
  }

  async #write(sides: Parameters<typeof mergeRevisions>[1]): Promise<MergedSide> {
    const context = {
      target: this.#scratch,
      slice: this.#slice,
      servicesBase: this.#registry.servicesBase,
    }
    const result = await mergeRevisions(this.#family, sides, new MergingBases(this.#effort), context)
    if ('is' in result) return result.is
    const { payload, before, other, header } = result
    const carried = before.filter(({ name }) => !this.#family.ownsFile(name))
    // Nobody commits it, and it may hold what both sides have.
    const limits = { ...this.#registry.limits, maxDocumentBytes: Infinity }
    const written = payload && (await this.#family.write(this.#scratch, payload, before, limits, other))
    const entries = [...carried, ...(written?.entries ?? [])]
    return {
      tree: writeTree(this.#scratch, entries),
      entries,
      header,
      payload: written?.stored?.payload,
      size: written?.stored?.size ?? 0,
    }
  }

  async #commit(oid: Oid) {
    return parseCommit(await readBytes(this.#scratch, oid, 'commit'))
  }
}

function tooManyBases(why: string): Refusal {
  return new Refusal(
    'too_many_merge_bases',
    `The two sides were merged into one another so often that what they have in common cannot be told. ${why}; at most ${MOST_BASES} are ` +
      `taken, and theirs on ${MOST_LEVELS} levels. Clone the repository, merge there with git, and push the result.`,
  )
}

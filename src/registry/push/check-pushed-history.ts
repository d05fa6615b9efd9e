import { Refusal } from '../../errors.ts'
import { parseCommit, type Oid, parseTag } from '../../git/objects.ts'
import { type HistoryNode, isOnChain } from '../../git/history.ts'
import type { IncomingObjects } from '../../git/receive.ts'
import { TimeSlice } from '../../base/scheduling.ts'
import type { ArtifactView } from '../artifacts/artifact-view.ts'
import { assertPinsDeployable } from '../environments/assert-pins-deployable.ts'
import type { Warning } from '../payload/family.ts'
import { checkRevision, checkSize } from './check-revision.ts'
import type { Chains } from '../revisions/first-parent-chains.ts'
import { knownRevisions } from '../revisions/first-parent-chains.ts'
import type { RefCommand } from './ref-command.ts'
import { branchSlug, RefRefused } from './ref-command.ts'
import type { Registry } from '../store/registry.ts'
import { readBytes } from '../payload/tree-files.ts'

/** A tag may point to a tag. */
const MAX_TAG_DEPTH = 8

/** The result of checking a pushed commit. */
interface Verdict {
  /** The newest existing revision below it; undefined if its whole chain is new. */
  readonly base?: HistoryNode | undefined
  /** Why it cannot be a revision, for the ref that names it. */
  readonly refuse?: (ref: string) => unknown
  /** Warnings for the pusher about the new commits. */
  readonly warnings?: readonly Warning[]
}

/**
 * Checks the new revisions of a push: the commits on the first-parent chains of its targets that no branch or tag has yet. Each commit is
 * checked once, even if several commands share it, and other work runs in between.
 */
export class PushedHistory {
  readonly #registry: Registry
  readonly #artifact: ArtifactView
  readonly #incoming: IncomingObjects
  readonly #signal: AbortSignal
  readonly #slice: TimeSlice
  readonly #verdicts = new Map<Oid, Verdict>()
  /** Checked parents other than the first, and the commits below them. */
  readonly #merged = new Set<Oid>()
  /** Whether no branch or tag has a revision yet: then the push may contain data that only an earlier version could store. */
  readonly #isFirst: boolean
  #known: Chains | undefined
  #records: ReadonlySet<Oid> | undefined

  constructor(registry: Registry, artifact: ArtifactView, incoming: IncomingObjects, signal: AbortSignal) {
    this.#registry = registry
    this.#artifact = artifact
    this.#incoming = incoming
    this.#signal = signal
    this.#slice = new TimeSlice(signal)
    this.#isFirst = artifact.tags.size === 0 && artifact.variants.every(({ head }) => head === undefined)
  }

  /**
   * Refuses a command unless REST could have made each of its new revisions, and the chain contains the ref's current commit, so that no
   * revision is lost or gets another version (interface 15.3, 1.13). Answers warnings about accepted revisions.
   */
  async check(command: RefCommand & { readonly target: Oid }): Promise<readonly Warning[]> {
    const { ref, expected, target } = command
    if (this.#slice.isOver) await this.#slice.rest()
    const { base, refuse, warnings = [] } = await this.#judge(await this.#commitOf(ref, target))
    if (refuse) throw refuse(ref)
    if (expected !== undefined) await this.#assertHeld(command, expected, base)
    return warnings
  }

  /** The commit for a branch or tag. */
  async #commitOf(ref: string, target: Oid): Promise<Oid> {
    let oid = target
    for (let depth = 0; depth < MAX_TAG_DEPTH; depth++) {
      const object = await this.#incoming.read(oid)
      if (object?.kind === 'commit' && (depth === 0 || branchSlug(ref) === undefined)) return oid
      if (object?.kind !== 'tag') break
      oid = parseTag(object.bytes).object
    }
    throw new RefRefused(
      'not a commit',
      `${ref} cannot be made: it would not name a commit. Branch or tag a commit.`,
    )
  }

  async #judge(commit: Oid): Promise<Verdict> {
    const { fresh, below } = await this.#freshCommits(commit)
    let verdict = below
    for (const oid of fresh.reverse()) {
      if (!verdict.refuse) {
        try {
          const how = { slice: this.#slice, isFirst: this.#isFirst }
          const found = await checkRevision(this.#registry, this.#artifact.family, this.#incoming, oid, how)
          if (found.length > 0) verdict = { ...verdict, warnings: [...(verdict.warnings ?? []), ...found] }
          await this.#checkMerged(oid)
          await this.#assertDeployable(oid)
        } catch (error) {
          // A disk error, or a client that is gone, is not a verdict on the commit.
          if (!(error instanceof RefRefused)) throw error
          verdict = { refuse: () => error }
        }
        if (this.#slice.isOver) await this.#slice.rest()
      }
      this.#verdicts.set(oid, verdict)
    }
    return verdict
  }

  /** Checks the sizes of all commits behind the other parents of a merge now, because commits that exist are never checked later. */
  async #checkMerged(merge: Oid): Promise<void> {
    const [, ...open] = await this.#parentsOf(merge)
    for (let oid = open.pop(); oid !== undefined; oid = open.pop()) {
      if (this.#merged.has(oid) || this.#verdicts.has(oid) || !this.#incoming.has(oid)) continue
      this.#merged.add(oid)
      await checkSize(this.#registry, this.#artifact.family, this.#incoming, oid, this.#isFirst)
      for (const parent of await this.#parentsOf(oid)) open.push(parent)
      if (this.#slice.isOver) await this.#slice.rest()
    }
  }

  async #parentsOf(oid: Oid): Promise<Oid[]> {
    return [...parseCommit(await readBytes(this.#incoming, oid, 'commit')).parents]
  }

  /** The commits that are not revisions and were not checked yet, newest first, and the verdict on the first parent of the oldest of them. */
  async #freshCommits(commit: Oid): Promise<{ readonly fresh: Oid[]; readonly below: Verdict }> {
    const { objects, history } = this.#artifact.repository
    const known = (this.#known ??= await knownRevisions(this.#artifact, this.#slice))
    const records = (this.#records ??= await this.#recordChain())
    const fresh: Oid[] = []
    for (let oid: Oid | undefined = commit; oid !== undefined;) {
      const judged = this.#verdicts.get(oid)
      if (judged) return { fresh, below: judged }
      if (records.has(oid)) return { fresh, below: { refuse: refusalOfRecord(oid) } }
      if (await objects.has(oid)) {
        const node = await history.node(oid)
        if (await known.has(node)) return { fresh, below: { base: node } }
      }
      fresh.push(oid)
      oid = parseCommit(await readBytes(this.#incoming, oid, 'commit')).parents[0]
      if (this.#slice.isOver) await this.#slice.rest()
    }
    return { fresh, below: {} }
  }

  /** For an environment: checks that the commit deploys nothing archived. */
  async #assertDeployable(oid: Oid): Promise<void> {
    const { family, revisions } = this.#artifact
    if (!family.pins) return
    const { commit, payload } = await revisions.readForList(this.#incoming, oid)
    const [parent] = commit.parents
    const before =
      parent === undefined ? undefined : (await revisions.readForList(this.#incoming, parent)).payload
    try {
      await assertPinsDeployable(this.#registry, family, payload, before, this.#slice)
    } catch (error) {
      if (!(error instanceof Refusal) || error.code !== 'archived') throw error
      throw new RefRefused('archived', `Commit ${oid} deploys what is archived. ${error.message}`)
    }
  }

  /** The commits of the artifact's record. */
  async #recordChain(): Promise<ReadonlySet<Oid>> {
    const { repository, metaCommit } = this.#artifact
    const chain = new Set<Oid>()
    let node: HistoryNode | undefined = await repository.history.node(metaCommit)
    for (; node; node = node.parent) {
      chain.add(node.oid)
      if (this.#slice.isOver) await this.#slice.rest()
    }
    return chain
  }

  async #assertHeld(
    { ref, target }: RefCommand & { readonly target: Oid },
    expected: Oid,
    base: HistoryNode | undefined,
  ): Promise<void> {
    const { source, repository } = this.#artifact
    if (source.refs.refs.get(ref) !== expected) throw movedOn(ref)
    if (base && isOnChain(await repository.history.node(expected), base)) return
    if (await this.#incoming.isAncestor(target, expected, this.#signal)) {
      throw new RefRefused(
        'rewind',
        `${ref} would lose revisions that others hold. To go back, commit the older state on top (git revert, or ` +
          `git restore --source ${target.slice(0, 12)} .), or push it as a new branch.`,
      )
    }
    if (await this.#incoming.isAncestor(expected, target, this.#signal)) {
      throw new RefRefused(
        'merge renumbers',
        `${ref} would renumber revisions that others hold: a merge must have ours as its first parent. Make a straight ` +
          `line of it with git pull --rebase, or merge yours into ours with git merge --no-ff, and push again.`,
      )
    }
    throw new RefRefused(
      'rewritten',
      `${ref} would lose revisions that others hold. Put your commits on top of them with git pull --rebase, and push ` +
        `again without --force.`,
    )
  }
}

function refusalOfRecord(oid: Oid): (ref: string) => RefRefused {
  return (ref) =>
    new RefRefused(
      'not a revision',
      `${ref} cannot be made: commit ${oid} is a record of the registry (refs/meta), not a revision.`,
    )
}

/** The refusal of a push that expected an older value of the ref. */
export function movedOn(ref: string): RefRefused {
  return new RefRefused(
    'fetch first',
    `${ref} moved on while you were at work. Take in what is new with git pull --rebase, and push again.`,
  )
}

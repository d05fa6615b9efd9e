import { setImmediate as nextTurn } from 'node:timers/promises'
import { Refusal } from '../errors.ts'
import { parseCommit } from '../git/commit.ts'
import type { HistoryNode } from '../git/history.ts'
import { isOnChain } from '../git/history.ts'
import type { IncomingObjects } from '../git/incoming-objects.ts'
import type { Oid } from '../git/object.ts'
import { parseTag } from '../git/tag.ts'
import type { TreeEntry } from '../git/tree.ts'
import type { ArtifactView } from './artifact-view.ts'
import type { Family } from './family.ts'
import type { RefCommand } from './push.ts'
import { branchSlug, RefRefused } from './push.ts'
import type { Registry } from './registry.ts'
import { REVISION_FILE } from './stored-revision.ts'
import { readBytes, readTree } from './tree-files.ts'

/** So many tags of tags are followed. */
const DEEPEST_TAG = 8
/** So many commits are decoded before other requests have their turn. */
const BREATH = 20

/**
 * Looks at the revisions that a command would bring: those on the first-parent chain of its target that no branch or tag
 * holds yet. Each must be what a commit over REST could have made, and the chain must hold what the ref holds now, so that no revision gets another version or is
 * lost (design 1, 2).
 */
export async function checkPushedHistory(
  registry: Registry,
  artifact: ArtifactView,
  incoming: IncomingObjects,
  command: RefCommand & { readonly target: Oid },
): Promise<void> {
  const { ref, expected, target } = command
  const commit = await commitOf(incoming, ref, target)
  const { fresh, base } = await freshCommits(artifact, incoming, ref, commit)
  if (expected !== undefined) await assertHeld(artifact, incoming, command, expected, base)
  for (const [index, oid] of fresh.reverse().entries()) {
    await checkRevision(registry, artifact, incoming, oid)
    if (index % BREATH === 0) await nextTurn()
  }
}

/** The commit that a branch or tag is to name. */
async function commitOf(incoming: IncomingObjects, ref: string, target: Oid): Promise<Oid> {
  let oid = target
  for (let depth = 0; depth < DEEPEST_TAG; depth++) {
    const object = await incoming.read(oid)
    if (object?.kind === 'commit' && (depth === 0 || branchSlug(ref) === undefined)) return oid
    if (object?.kind !== 'tag') break
    oid = parseTag(object.bytes).object
  }
  throw new RefRefused(
    'not a commit',
    `${ref} cannot be made: it would not name a commit. Branch or tag a commit.`,
  )
}

interface FreshCommits {
  /** Those that are no revisions yet, newest first. */
  readonly fresh: Oid[]
  /** The newest revision below them; undefined if the chain is all new. */
  readonly base: HistoryNode | undefined
}

async function freshCommits(
  artifact: ArtifactView,
  incoming: IncomingObjects,
  ref: string,
  commit: Oid,
): Promise<FreshCommits> {
  const { objects, history } = artifact.repository
  const heads = await headsOf(artifact)
  const meta = await chainOf(artifact)
  const fresh: Oid[] = []
  for (let oid: Oid | undefined = commit; oid !== undefined;) {
    if (meta.has(oid)) {
      throw new RefRefused(
        'not a revision',
        `${ref} cannot be made: commit ${oid} is a record of the registry (refs/meta), not a revision.`,
      )
    }
    if (await objects.has(oid)) {
      const node = await history.node(oid)
      if (heads.some((head) => isOnChain(node, head))) return { fresh, base: node }
    }
    fresh.push(oid)
    oid = parseCommit(await readBytes(incoming, oid, 'commit')).parents[0]
  }
  return { fresh, base: undefined }
}

/** What branches and tags name. */
async function headsOf({ variants, tags, repository }: ArtifactView): Promise<HistoryNode[]> {
  const oids = new Set(tags.values())
  for (const { head } of variants) if (head !== undefined) oids.add(head)
  return Promise.all([...oids].map((oid) => repository.history.node(oid)))
}

/** The commits of the artifact's record. */
async function chainOf({ repository, metaCommit }: ArtifactView): Promise<ReadonlySet<Oid>> {
  const chain = new Set<Oid>()
  let node: HistoryNode | undefined = await repository.history.node(metaCommit)
  for (; node; node = node.parent) chain.add(node.oid)
  return chain
}

async function assertHeld(
  { source, repository }: ArtifactView,
  incoming: IncomingObjects,
  { ref, target }: RefCommand & { readonly target: Oid },
  expected: Oid,
  base: HistoryNode | undefined,
): Promise<void> {
  if (source.refs.refs.get(ref) !== expected) throw movedOn(ref)
  if (base && isOnChain(await repository.history.node(expected), base)) return
  if (await incoming.isAncestor(target, expected)) {
    throw new RefRefused(
      'rewind',
      `${ref} would lose revisions that others hold. To go back, commit the older state on top (git revert, or ` +
        `git restore --source ${target.slice(0, 12)} .), or push it as a new branch.`,
    )
  }
  if (await incoming.isAncestor(expected, target)) {
    throw new RefRefused(
      'merge renumbers',
      `${ref} would renumber revisions that others hold: a merge must have ours as its first parent. Make a straight ` +
        `line of it with git pull --rebase, and push again.`,
    )
  }
  throw new RefRefused(
    'rewritten',
    `${ref} would lose revisions that others hold. Put your commits on top of them with git pull --rebase, and push ` +
      `again without --force.`,
  )
}

/** The refusal of a push that was made for what the ref held before. */
export function movedOn(ref: string): RefRefused {
  return new RefRefused(
    'fetch first',
    `${ref} moved on while you were at work. Take in what is new with git pull --rebase, and push again.`,
  )
}

/**
 * A revision must decode, and hold nothing that a commit over REST would refuse. Where payload and header are as they lay in
 * the parent, that is not asked again: what was fine once, or was put there behind the service's back, can be built upon.
 */
async function checkRevision(
  registry: Registry,
  { family }: ArtifactView,
  incoming: IncomingObjects,
  oid: Oid,
): Promise<void> {
  const revisions = registry.revisions(family)
  const { commit, payload, damage } = await revisions.readForList(incoming, oid)
  const [parent] = commit.parents
  const entries = await readTree(incoming, commit.tree)
  const before = parent === undefined ? [] : await rootOf(incoming, parent)
  if (parent !== undefined && isUnchanged(family, entries, before)) return
  if (damage) throw damage
  if (!payload && parent !== undefined) {
    const earlier = await revisions.readForList(incoming, parent)
    if (earlier.payload) throw droppedPayload(family, oid, before)
  }
  try {
    await family.check?.(incoming, entries, before, { loc: [], servicesBase: registry.servicesBase })
  } catch (error) {
    if (!(error instanceof Error)) throw error
    throw new Refusal(
      'damaged_repository',
      `Commit ${oid} cannot be a ${family.name} revision: ${error.message}.`,
    )
  }
}

async function rootOf(incoming: IncomingObjects, commit: Oid): Promise<readonly TreeEntry[]> {
  return readTree(incoming, parseCommit(await readBytes(incoming, commit, 'commit')).tree)
}

/** Whether payload and header are the very entries of the parent. */
function isUnchanged(family: Family, entries: readonly TreeEntry[], before: readonly TreeEntry[]): boolean {
  const textOf = (some: readonly TreeEntry[]): string =>
    some
      .filter(({ name }) => name === REVISION_FILE || family.ownsFile(name))
      .map(({ mode, name, oid }) => `${mode} ${oid} ${name}`)
      .join('\n')
  return textOf(entries) === textOf(before)
}

/** Only a variant's first revision may be without a payload (ruling 3.2). */
function droppedPayload(family: Family, oid: Oid, before: readonly TreeEntry[]): RefRefused {
  const names = before.map(({ name }) => name).filter((name) => family.ownsFile(name))
  const files = names.join(' and ')
  return new RefRefused(
    'payload removed',
    `Commit ${oid} takes ${files} away, and a ${family.name} revision that follows one with data must have some. Bring it ` +
      `back in that commit (git checkout ${oid.slice(0, 12)}~1 -- ${names.join(' ')}); to take the ${family.name} away, archive ` +
      `it over REST.`,
  )
}

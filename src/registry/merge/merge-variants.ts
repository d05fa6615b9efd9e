import { Refusal } from '../../errors.ts'
import { commonHistory, firstParentsWhile } from '../../git/history.ts'
import { parseCommit, type Oid } from '../../git/objects.ts'
import { TimeSlice } from '../../base/scheduling.ts'
import { assertActive, assertRevisionActive } from '../revisions/revision.ts'
import { readBytes } from '../payload/tree-files.ts'
import type { Registry } from '../store/registry.ts'
import type { VariantLocation } from '../revisions/references.ts'
import { branchOf, latestCommit } from '../revisions/write-revision.ts'
import { LONGEST_SUBJECT, shownName } from '../revisions/shown-name.ts'
import type { WriteContext } from '../store/write-context.ts'
import { mergeBase, mergeSide } from './merge-base.ts'
import type { FoundSide } from './merge-side.ts'
import { assertSameArtifact } from './merge-side.ts'
import { NOTHING } from './merge-revisions.ts'
import type { Merged, MergeOptions, MergePlan, OpenTarget } from './write-merge.ts'
import { writeMerge } from './write-merge.ts'

export interface VariantMerge extends MergeOptions {
  readonly source: FoundSide
  readonly target: VariantLocation
  /** False: make a merge commit even if the branch could simply move. */
  readonly fastForward?: boolean | undefined
}

/**
 * Merges a side into a variant. The branch only moves if its head is on the source's first-parent chain, so that the target's versions and
 * ids stay. Otherwise a commit is made with the target's head as its first parent. Refuses unrelated histories (`unrelated`), a variant
 * into itself, archived items, and unresolved conflicts.
 */
export async function mergeVariants(
  registry: Registry,
  merge: VariantMerge,
  context: WriteContext,
): Promise<Merged> {
  const { source, target } = merge
  assertSameArtifact(target, source.place ?? source.variant)
  if (source.variant?.variant.slug === target.variant.slug) throw intoItself(target)
  return writeMerge(registry, target, merge, context, {
    plan: async (open) => planOf(merge, open, await sourceCommit(source, open)),
    toldOf: (commit) => toldOfMerge(target, commit),
  })
}

async function toldOfMerge(
  { artifact }: VariantLocation,
  commit: Oid,
): Promise<Pick<MergePlan, 'kind' | 'base'>> {
  const { objects } = artifact.repository
  const { parents } = parseCommit(await readBytes(objects, commit, 'commit'))
  const [first, second] = parents
  if (first === undefined || second === undefined) return { kind: 'fast_forward', base: undefined }
  const { bases } = await commonHistory(objects, first, second, new TimeSlice())
  return { kind: 'merge', base: bases.length === 1 ? bases[0] : undefined }
}

async function sourceCommit(source: FoundSide, { state, transaction }: OpenTarget): Promise<Oid> {
  const { artifact, variant } = source.place ?? source.variant
  assertActive('variant', variant.slug, state.variants.get(variant.slug), 'merge')
  if (source.place) {
    assertRevisionActive(source.place, 'merge')
    return source.place.oid
  }
  const head = transaction.ref(branchOf({ artifact, variant }))
  const latest = await latestCommit(transaction, state, artifact.digits, head)
  if (latest !== undefined) return latest
  throw new Refusal(
    'revision_not_found',
    `The variant "${variant.slug}" has no revision yet, or all of them are archived. Commit one before you merge it.`,
  )
}

async function planOf(
  { source, target, message, fastForward }: VariantMerge,
  open: OpenTarget,
  oid: Oid,
): Promise<MergePlan> {
  const { latest, head, scratch, slice, bases } = open
  if (latest === undefined) {
    if (head === undefined) return { kind: 'fast_forward', base: undefined, moveTo: oid }
    throw allArchived(target)
  }
  const common = await commonHistory(scratch, latest, oid, slice)
  const base = common.bases.length === 1 ? common.bases[0] : undefined
  if (common.bases.length === 0) throw unrelated(target, source)
  if (base === oid) return { kind: 'up_to_date', base }
  if (base === latest && head === latest && message === undefined && fastForward !== false) {
    const chain = await firstParentsWhile(scratch, oid, (it) => !common.isInFirst(it), slice)
    const oldest = chain.at(-1)
    if (oldest !== undefined && (await parentOf(open, oldest)) === latest)
      return { kind: 'fast_forward', base, moveTo: oid }
  }
  return {
    kind: 'merge',
    base,
    sides: {
      base: (await mergeBase(bases, common.bases)) ?? NOTHING,
      target: await mergeSide(bases, latest),
      source: await mergeSide(bases, oid),
    },
    otherParents: [oid],
    message,
    subject: subjectOf(source, target),
  }
}

async function parentOf({ scratch }: OpenTarget, oid: Oid): Promise<Oid | undefined> {
  return parseCommit(await readBytes(scratch, oid, 'commit')).parents[0]
}

/** Git's subject of a merge, in our words. */
function subjectOf(source: FoundSide, target: VariantLocation): string {
  const [kind, from] = source.variant
    ? ['variant', source.variant.variant.slug]
    : ['revision', `${source.place.variant.slug}-${source.place.version}`]
  const into = target.variant.slug
  const subject = (one: string, other: string): string => `Merge ${kind} '${one}' into '${other}'`
  if (subject(from, into).length <= LONGEST_SUBJECT) return subject(from, into)
  const room = Math.floor((LONGEST_SUBJECT - subject('', '').length) / 2)
  return subject(shownName(from, room), shownName(into, room))
}

function intoItself({ variant }: VariantLocation): Refusal {
  const loc = ['body', 'source']
  const msg = `source and target are one variant, "${variant.slug}"; name another one, or a revision of it`
  return new Refusal('invalid_request', `${loc.join('.')}: ${msg}`, {
    errors: [{ loc, msg, type: 'same_variant' }],
  })
}

function unrelated({ variant }: VariantLocation, source: FoundSide): Refusal {
  const from = (source.place ?? source.variant).variant.slug
  return new Refusal(
    'unrelated',
    `"${from}" and "${variant.slug}" have no revision in common: each began by itself. Commit what you want of the one to the other.`,
  )
}

function allArchived({ variant }: VariantLocation): Refusal {
  return new Refusal(
    'archived',
    `All revisions of the variant "${variant.slug}" are archived. Unarchive one before you merge into it.`,
  )
}

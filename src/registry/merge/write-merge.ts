import { Refusal } from '../../errors.ts'
import type { Oid, Ident } from '../../git/objects.ts'
import type { Transaction } from '../../git/transactions.ts'
import { TimeSlice } from '../../base/scheduling.ts'
import type { ArtifactState } from '../artifacts/artifact-record.ts'
import { assertActive, assertUnguarded } from '../revisions/revision.ts'
import { findVariant, payloadTarget, stateNow } from '../artifacts/artifact-view.ts'
import { assertPinsDeployable } from '../environments/assert-pins-deployable.ts'
import { LargeDocument } from '../payload/large-document.ts'
import { findEarlierAttempt } from '../revisions/find-earlier-attempt.ts'
import { objectUuid } from '../store/ids.ts'
import type { Registry } from '../store/registry.ts'
import { buildRevision } from '../revisions/write-revision.ts'
import { subjectIn, writeCommit } from '../revisions/stored-revision.ts'
import type { StoredRevision } from '../revisions/stored-revision.ts'
import type { VariantLocation } from '../revisions/references.ts'
import type { RevisionLocation } from '../revisions/revision.ts'
import { locate } from '../revisions/revision.ts'
import { branchOf, latestCommit } from '../revisions/write-revision.ts'
import type { WriteContext } from '../store/write-context.ts'
import { type BaseWork, mergeSide } from './merge-base.ts'
import type { MergedSide, MergeResult } from './merge-revisions.ts'
import { mergeRevisions } from './merge-revisions.ts'
import type { Conflict, Resolution, RestResolution, Sides } from './merging.ts'
import { Merging } from './merging.ts'
import { ScratchObjects } from './scratch-objects.ts'

export type MergeKind = 'up_to_date' | 'fast_forward' | 'merge' | 'revert' | 'cherry_pick' | 'restore'

/** Common options of merges, reverts, cherry-picks and restored revisions. */
export interface MergeOptions {
  readonly message?: string | undefined
  readonly resolutions?: readonly (Resolution | RestResolution)[] | undefined
  /** Answers what would happen, and stores nothing. */
  readonly dryRun?: boolean | undefined
  /** Refuses with `revision_conflict` unless this is the target's latest revision. */
  readonly expectedTarget?: string | undefined
  /** Aborted when the client is gone. */
  readonly signal?: AbortSignal | undefined
}

/** The result, or for a dry run the result that there would be. */
export interface MergeOutcome {
  readonly kind: MergeKind
  /** The merge base; undefined for none, and for several merged ones. */
  readonly base: Oid | undefined
  /** The open conflicts, for a dry run. */
  readonly conflicts: readonly Conflict[]
  /** Of all open conflicts, of which only the first are listed. */
  readonly total: number
  readonly resolved: number
}

export interface Merged extends MergeOutcome {
  /** The target's current state. */
  readonly artifact: RevisionLocation['artifact']
  /** The target's latest revision; undefined if nothing was stored. */
  readonly place: RevisionLocation | undefined
}

/** The target of a merge in a transaction. */
export interface OpenTarget {
  readonly state: ArtifactState
  readonly transaction: Transaction
  /** The branch's commit. */
  readonly head: Oid | undefined
  /** The newest revision that is not archived itself; this one is merged. */
  readonly latest: Oid | undefined
  /** The new objects of the merge. */
  readonly scratch: ScratchObjects
  readonly bases: BaseWork
  readonly merging: Merging
  readonly slice: TimeSlice
}

/** A kind's plan for a merge. */
export interface MergePlan {
  readonly kind: MergeKind
  readonly base: Oid | undefined
  /** For a fast-forward: the branch's new commit. */
  readonly moveTo?: Oid
  /** Otherwise: the sides, and the properties of the commit. */
  readonly sides?: Sides<MergedSide>
  readonly otherParents?: readonly Oid[]
  /** The message that the client sent … */
  readonly message?: string | undefined
  /** … and the subject without one. */
  readonly subject?: string | undefined
  readonly author?: Ident
}

/** One kind of merge. */
export interface MergePlanner {
  plan(open: OpenTarget): Promise<MergePlan>
  /** The answer for a commit that an earlier attempt at this same write made. */
  toldOf(commit: Oid): Promise<Pick<MergePlan, 'kind' | 'base'>>
}

/** Attempts outside the write queue; after these, the merge runs in the queue of its repository. */
const MERGES_TRIED_BESIDE_WRITES = 3

/** Maximum time of a merge in all, in milliseconds. */
const MOST_MS = 60_000

/**
 * Computes a merge with the current target, and writes it if the target has not moved; otherwise computes it again. Other writes of the
 * repository wait for it only after it was overtaken several times. Refuses archived or guarded targets, open conflicts (`merge_conflict`),
 * resolutions without a conflict, and merges that take too long (`merge_too_slow`). A kind other than `merge` that changes nothing is
 * `up_to_date`.
 */
export async function writeMerge(
  registry: Registry,
  target: VariantLocation,
  options: MergeOptions,
  context: WriteContext,
  planner: MergePlanner,
): Promise<Merged> {
  const { artifact, variant } = target
  const branch = branchOf(target)
  const isTried = options.dryRun === true
  const isRepeated = context.attempt !== undefined && !isTried
  const earlier = isRepeated ? await findEarlierAttempt(registry, artifact, branch, context) : undefined
  if (earlier) {
    const now = findVariant(earlier.artifact, variant.slug) ?? variant
    const place = await locate(earlier.artifact, now, earlier.commit)
    const told = await planner.toldOf(earlier.commit)
    const resolved = options.resolutions?.length ?? 0
    return { artifact: earlier.artifact, place, ...told, ...NO_CONFLICTS, resolved }
  }
  const slice = new TimeSlice(options.signal, tookTooLong, MOST_MS)
  const workOn = async (transaction: Transaction): Promise<Worked> => {
    const open = await openTarget(registry, target, { options, context, transaction, slice })
    const planned = await planner.plan(open)
    return work(registry, target, { open, planned, options, context })
  }
  const { oid, outcome } = isTried ? await workOn(artifact.repository.trial()) : await decide(target, workOn)
  if (isTried || oid === undefined) return { ...outcome, artifact, place: undefined }
  const written =
    outcome.kind === 'up_to_date' ? artifact : await registry.index.written(artifact.family, artifact.slug)
  const place = await locate(written, findVariant(written, variant.slug) ?? variant, oid)
  return { ...outcome, artifact: written, place }
}

const NO_CONFLICTS = { conflicts: [], total: 0 }

function tookTooLong(): Refusal {
  return new Refusal(
    'merge_too_slow',
    `The merge takes more than ${MOST_MS / 1000} seconds of work. Clone the repository, merge there with git, and push the result.`,
  )
}

/** A computed merge, and how it is written. */
interface Worked {
  readonly outcome: MergeOutcome
  /** The target's latest revision after it; undefined if there is none, and for a dry run. */
  readonly oid: Oid | undefined
  /** Writes the merge; undefined if there is nothing to write. */
  readonly write?: (transaction: Transaction) => Promise<void>
}

/** Computes a merge, and writes it if the target is still the one it was computed with. */
async function decide(
  { artifact }: VariantLocation,
  workOn: (transaction: Transaction) => Promise<Worked>,
): Promise<Worked> {
  const { repository } = artifact
  for (let trials = 0; trials < MERGES_TRIED_BESIDE_WRITES; trials++) {
    const trial = repository.trial(trials === 0)
    const worked = await workOn(trial)
    const { write } = worked
    if (!write) return worked
    const isWritten = await repository.transact(async (transaction) => {
      if (!trial.isStillSo(transaction)) return false
      await write(transaction)
      return true
    })
    if (isWritten) return worked
  }
  return repository.transact(async (transaction) => {
    const worked = await workOn(transaction)
    await worked.write?.(transaction)
    return worked
  })
}

interface Opening extends Pick<Work, 'options' | 'context'> {
  readonly transaction: Transaction
  readonly slice: TimeSlice
}

async function openTarget(
  registry: Registry,
  { artifact, variant }: VariantLocation,
  { options, context, transaction, slice }: Opening,
): Promise<OpenTarget> {
  const { family } = artifact
  const { resolutions, expectedTarget, dryRun } = options
  const state = await stateNow(artifact, transaction)
  assertActive('artifact', artifact.slug, state.artifact)
  assertActive('variant', variant.slug, state.variants.get(variant.slug))
  if (!dryRun) assertUnguarded(family, state.artifact, context.actor)
  const head = transaction.ref(branchOf({ artifact, variant }))
  const latest = await latestCommit(transaction, state, artifact.digits, head)
  assertExpected(variant.slug, expectedTarget, latest && objectUuid(latest, artifact.digits))
  const ofBases = new ScratchObjects(payloadTarget(artifact, transaction))
  const merging = new Merging(resolutions)
  return {
    state,
    transaction,
    head,
    latest,
    scratch: new ScratchObjects(ofBases),
    bases: {
      ...{ registry, family, scratch: ofBases, slice, effort: merging.effort },
      ...{ made: new Map(), ofBases: new Map() },
    },
    merging,
    slice,
  }
}

function assertExpected(slug: string, expected: string | undefined, now: string | undefined): void {
  if (expected === undefined || expected === now) return
  throw new Refusal(
    'revision_conflict',
    `The variant "${slug}" moved on: ${now === undefined ? 'it has no revision' : `its latest revision is ${now}`}, not expected_target ` +
      `${expected}. Look at the merge again with "dry_run": true, and send it with the revision that is there.`,
    { details: { expected_target: expected, current_revision_id: now ?? null } },
  )
}

interface Work {
  readonly open: OpenTarget
  readonly planned: MergePlan
  readonly options: MergeOptions
  readonly context: WriteContext
}

async function work(
  registry: Registry,
  target: VariantLocation,
  { open, planned, options, context }: Work,
): Promise<Worked> {
  const { artifact } = target
  const { family } = artifact
  const { merging, latest, slice } = open
  const { kind, base, sides, moveTo } = planned
  const result = sides && (await mergeRevisions(family, sides, merging, contextOf(registry, open)))
  merging.assertAllMet()
  const { left, total, resolved } = merging
  const outcome = { kind, base, conflicts: left, total, resolved }
  if (merging.hasConflicts) {
    if (options.dryRun) return { outcome, oid: undefined }
    throw conflictsLeft(target, left, total)
  }
  if (kind === 'up_to_date') return { outcome, oid: latest }
  const assertPins = async (): Promise<void> => {
    if (!family.pins) return
    const before = latest === undefined ? undefined : await mergeSide(open.bases, latest)
    const after = moveTo === undefined ? undefined : await mergeSide(open.bases, moveTo)
    const payload = result ? ('is' in result ? result.is.payload : result.payload) : after?.payload
    await assertPinsDeployable(registry, family, payload, before?.payload)
  }
  await assertPins()
  const made = result && (await build(registry, target, { open, planned, options, context }, result))
  if (kind !== 'merge' && made && made.commit.tree === sides?.target.tree)
    return { outcome: { ...outcome, kind: 'up_to_date' }, oid: latest }
  const oid = moveTo ?? made?.oid
  if (options.dryRun || oid === undefined) return { outcome, oid: undefined }
  const write = async (transaction: Transaction): Promise<void> => {
    // Pinned artifacts are in other repositories, and may have been archived meanwhile.
    await assertPins()
    await open.scratch.writeTo(transaction, slice)
    transaction.move(branchOf(target), oid)
    const { attempt } = context
    if (attempt) transaction.note(attempt.noteOf(artifact.digits, branchOf(target), oid))
    // The answer shows this revision.
    if (made) artifact.revisions.keep(made)
  }
  return { outcome, oid, write }
}

function contextOf({ servicesBase }: Registry, { scratch, slice }: OpenTarget) {
  return { target: scratch, slice, servicesBase }
}

async function build(
  registry: Registry,
  { artifact, variant }: VariantLocation,
  { open, planned, context }: Work,
  result: MergeResult,
): Promise<StoredRevision> {
  const { scratch, head } = open
  const { message, subject, author, otherParents = [] } = planned
  if ('is' in result) {
    const { tree, header, payload, size, files } = result.is
    if (payload instanceof LargeDocument && result.is !== planned.sides?.target) throw payload.refusal()
    if (tree === undefined) throw new Error('what is merged has a tree')
    const sent = message !== undefined && subjectIn(message) !== '' ? message : undefined
    const said = { author, message: sent, subject, trailers: { variant: variant.slug } }
    const made = { tree, parents: head === undefined ? [] : [head, ...otherParents], ...said }
    return { ...writeCommit(registry, scratch, made, context), header, payload, size, files }
  }
  const { payload, header, before, onto, other } = result
  const merged = {
    artifact: artifact.slug,
    variant: variant.slug,
    parent: head,
    taken: { parents: otherParents, before, onto, other },
    ...{ message, subject, header, payload, author },
  }
  return (await buildRevision(registry, artifact.revisions, scratch, merged, context)).revision
}

function conflictsLeft({ variant }: VariantLocation, conflicts: readonly Conflict[], total: number): Refusal {
  const count = total === 1 ? 'one place' : `${total} places`
  return new Refusal(
    'merge_conflict',
    `Both sides changed ${count} of what "${variant.slug}" holds, each in its own way. Send the same request with resolutions: for each ` +
      `place {"place": …, "take": "target", "source" or "base"}, {"place": …, "value": …} or {"place": …, "remove": true}; a last ` +
      'entry {"all": "target" or "source"} takes that side of all others.',
    { conflicts, ...(total > conflicts.length && { truncated: true as const, total }) },
  )
}

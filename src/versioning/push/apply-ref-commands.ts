import type { Oid } from '../../git/objects/object.ts'
import type { Transaction } from '../../git/transactions/transaction.ts'
import { TimeSlice } from '../../scheduling/cooperative.ts'
import type { ArtifactState } from '../artifacts/artifact-record.ts'
import type { ArtifactView } from '../artifacts/artifact-view.ts'
import { commitChange } from '../artifacts/change-artifact.ts'
import type { VariantRecord } from '../artifacts/records.ts'
import { assertActive, assertUnguarded } from '../artifacts/write-guards.ts'
import type { Family, Warning } from '../family/family.ts'
import type { Registry } from '../registry.ts'
import { stateNow } from '../revisions/write-revision.ts'
import { NamesInUse } from '../slugs/names-in-use.ts'
import { claimTag, claimVariant } from '../slugs/slug-names.ts'
import { newVariant } from '../variants/create-variant.ts'
import type { WriteContext } from '../write-context.ts'
import { movedOn } from './check-pushed-history.ts'
import type { RefCommand, RefOutcome, RefRefusal } from './ref-command.ts'
import { assertNewBranch, assertNewTag, branchSlug, refRefusalOf, tagSlug } from './ref-command.ts'

/** A command whose objects were found good, or why they were not. */
export interface CheckedCommand extends RefCommand {
  readonly target: Oid
  readonly refused?: RefRefusal
  /** What its pusher should know of the revisions that it brings. */
  readonly warnings?: readonly Warning[]
}

/**
 * Moves the refs of a push in a transaction of its artifact's repository, as far as what is there now allows: the artifact and
 * its variants are not archived, nobody was faster, no name clashes. A branch that is new becomes a variant with a record of
 * who brought it. Answers what became of each command.
 */
export async function applyRefCommands(
  registry: Registry,
  artifact: ArtifactView,
  commands: readonly CheckedCommand[],
  context: WriteContext,
  transaction: Transaction,
): Promise<readonly RefOutcome[]> {
  const state = await stateNow(artifact, transaction)
  assertUnguarded(artifact.family, state.artifact, context.actor)
  assertActive('artifact', artifact.slug, state.artifact)
  const { family } = artifact
  const move = {
    registry,
    family,
    state,
    context,
    transaction,
    names: NamesInUse.of(state, transaction),
    records: new Map<string, VariantRecord>(),
    tags: new Map<string, string>(),
  }
  const { records, tags }: RefMove = move
  const outcomes: RefOutcome[] = []
  await new TimeSlice().each(commands, (command) => {
    const { ref, refused } = command
    if (refused) return outcomes.push({ ref, refused })
    try {
      moveRef(command, move)
      return outcomes.push({ ref })
    } catch (error) {
      return outcomes.push({ ref, refused: refRefusalOf(error) })
    }
  })
  const made = [
    ['Create variant', [...records.keys()]],
    ['Name revision', [...tags.keys()]],
  ] as const
  const subject = made
    .flatMap(([what, slugs]) => (slugs.length > 0 ? `${what} ${firstOf(slugs)}` : []))
    .join('; ')
  if (subject !== '') {
    const all = tags.size > 0 ? { tags: new Map([...(state.tags ?? []), ...tags]) } : {}
    await commitChange(
      registry,
      artifact,
      state,
      { subject, variants: Object.fromEntries(records), ...all },
      context,
      transaction,
    )
  }
  return outcomes
}

function firstOf(slugs: readonly string[]): string {
  return `${slugs.slice(0, 3).join(', ')}${slugs.length > 3 ? ' …' : ''}`
}

/** What the refs of a push are moved in. */
interface RefMove {
  readonly registry: Registry
  readonly family: Family
  readonly state: ArtifactState
  readonly context: WriteContext
  readonly transaction: Transaction
  readonly names: NamesInUse
  /** The records of variants that come to be. */
  readonly records: Map<string, VariantRecord>
  /** Since when tags are there that come to be. */
  readonly tags: Map<string, string>
}

function moveRef({ ref, expected, target }: CheckedCommand, move: RefMove): void {
  const { registry, family, state, context, transaction, names, records, tags } = move
  if (transaction.ref(ref) !== expected) throw movedOn(ref)
  const [branch, tag] = [branchSlug(ref), tagSlug(ref)]
  if (branch !== undefined) {
    assertActive('variant', branch, state.variants.get(branch))
    if (expected === undefined) {
      assertNewBranch(names, branch)
      claimVariant(transaction, family, branch)
      if (!state.variants.has(branch)) {
        if (!names.hasVariant) transaction.setDerivedRef('HEAD', `ref: refs/heads/${branch}`)
        records.set(branch, newVariant(registry, branch, { header: {} }, context))
      }
    }
    names.addVariant(branch)
  }
  if (tag !== undefined) {
    assertNewTag(names, tag)
    names.addTag(tag)
    claimTag(transaction, family, tag)
    tags.set(tag, registry.now().toISOString())
  }
  transaction.move(ref, target)
}

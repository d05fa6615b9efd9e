import type { Oid } from '../git/object.ts'
import type { Transaction } from '../git/transaction.ts'
import type { ArtifactState } from './artifact-state.ts'
import { META_REF } from './artifact-state.ts'
import type { ArtifactView } from './artifact-view.ts'
import { assertActive } from './assert-active.ts'
import { assertUnguarded } from './assert-unguarded.ts'
import type { WriteContext } from './change-artifact.ts'
import { movedOn } from './check-pushed-history.ts'
import { commitChange } from './commit-change.ts'
import { planVariant } from './plan-variant.ts'
import type { RefCommand, RefOutcome, RefRefusal } from './push.ts'
import { branchSlug, refusalOf, RefRefused, tagSlug } from './push.ts'
import type { VariantRecord } from './records.ts'
import type { Registry } from './registry.ts'
import { foldSlug, numberedBase } from './slugs.ts'
import { stateNow } from './write-revision.ts'

/** A command whose objects were found good, or why they were not. */
export interface CheckedCommand extends RefCommand {
  readonly target: Oid
  readonly refused?: RefRefusal
}

/**
 * Moves the refs of a push in a transaction of its artifact's repository, as far as what is there now allows: the artifact and
 * its variants are not archived, nobody was faster, no name clashes. A branch that is new becomes a variant with a record of
 * who brought it. Answers what became of each command.
 */
export async function movePushedRefs(
  registry: Registry,
  artifact: ArtifactView,
  commands: readonly CheckedCommand[],
  context: WriteContext,
  transaction: Transaction,
): Promise<readonly RefOutcome[]> {
  const state = await stateNow(artifact, transaction)
  assertUnguarded(artifact.family, state.artifact, context.actor)
  assertActive('artifact', artifact.slug, state.artifact)
  const records: Record<string, VariantRecord> = {}
  const outcomes = commands.map((command) => {
    const { ref, refused } = command
    if (refused) return { ref, refused }
    try {
      Object.assign(records, moveRef(registry, command, state, context, transaction))
      return { ref }
    } catch (error) {
      return { ref, refused: refusalOf(error) }
    }
  })
  const slugs = Object.keys(records)
  const head = transaction.ref(META_REF)
  if (slugs.length > 0 && head !== undefined) {
    const subject = `Create variant ${slugs.slice(0, 3).join(', ')}${slugs.length > 3 ? ' …' : ''}`
    await commitChange(registry, head, { subject, variants: records }, context, transaction)
  }
  return outcomes
}

/** The records of variants that come to be. */
function moveRef(
  registry: Registry,
  { ref, expected, target }: CheckedCommand,
  state: ArtifactState,
  context: WriteContext,
  transaction: Transaction,
): Readonly<Record<string, VariantRecord>> {
  if (transaction.ref(ref) !== expected) throw movedOn(ref)
  const [branch, tag] = [branchSlug(ref), tagSlug(ref)]
  let records = {}
  if (branch !== undefined) {
    assertActive('variant', branch, state.variants.get(branch))
    if (expected === undefined) {
      assertBranchFree(branch, state, transaction)
      if (!state.variants.has(branch)) {
        records = planVariant(registry, branch, { header: {} }, context, state, transaction).variants ?? {}
      }
    }
  }
  if (tag !== undefined) assertTagFree(tag, state, transaction)
  transaction.move(ref, target)
  return records
}

/** Within the repository only: another artifact may have a variant of this slug (ruling 3.4a). */
function assertBranchFree(slug: string, state: ArtifactState, transaction: Transaction): void {
  const rival = variantsOf(state, transaction).find((it) => it !== slug && foldSlug(it) === foldSlug(slug))
  if (rival !== undefined) {
    throw taken(`The branch "${slug}" differs from the variant "${rival}" in case only.`)
  }
  const numbered = tagsOf(transaction).find((tag) => isNumbered(tag, slug))
  if (numbered !== undefined) {
    throw taken(`Revisions of the branch "${slug}" would be named as the tag "${numbered}" is.`)
  }
}

function assertTagFree(slug: string, state: ArtifactState, transaction: Transaction): void {
  const rival = tagsOf(transaction).find((it) => foldSlug(it) === foldSlug(slug))
  if (rival !== undefined) throw taken(`The tag "${slug}" differs from the tag "${rival}" in case only.`)
  const variant = variantsOf(state, transaction).find((it) => isNumbered(slug, it))
  if (variant !== undefined) throw taken(`The tag "${slug}" reads as a version of the variant "${variant}".`)
}

/** Whether a tag reads as a revision of the variant (ruling 3.4). */
function isNumbered(tag: string, variant: string): boolean {
  const base = numberedBase(tag)
  return base !== undefined && foldSlug(base) === foldSlug(variant)
}

function variantsOf(state: ArtifactState, transaction: Transaction): readonly string[] {
  const branches = [...transaction.refs('refs/heads/').keys()].flatMap((ref) => branchSlug(ref) ?? [])
  return [...state.variants.keys(), ...branches]
}

function tagsOf(transaction: Transaction): readonly string[] {
  return [...transaction.refs('refs/tags/').keys()].flatMap((ref) => tagSlug(ref) ?? [])
}

function taken(sentence: string): RefRefused {
  return new RefRefused('slug taken', `${sentence} Choose another name.`)
}

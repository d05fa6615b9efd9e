import { Refusal } from '../../errors.ts'
import { parseCommit, type Oid } from '../../git/objects.ts'
import { assertActive, assertRevisionActive } from '../revisions/revision.ts'
import type { Registry } from '../store/registry.ts'
import type { VariantLocation } from '../revisions/references.ts'
import type { Revision } from '../revisions/revision.ts'
import type { WriteContext } from '../store/write-context.ts'
import { readBytes } from '../payload/tree-files.ts'
import { mergeSide } from './merge-base.ts'
import { NOTHING } from './merge-revisions.ts'
import { assertSameArtifact } from './merge-side.ts'
import type { Merged, MergeOptions, MergePlan, OpenTarget } from './write-merge.ts'
import { writeMerge } from './write-merge.ts'

/**
 * Undoes a revision's changes on a variant; a merge's changes are those against its first parent. Refuses a
 * first revision (`no_parent`), and unresolved conflicts. Changes that are already undone are `up_to_date`.
 */
export async function revertRevision(
  registry: Registry,
  revision: Revision,
  target: VariantLocation,
  options: MergeOptions,
  context: WriteContext,
): Promise<Merged> {
  assertSameArtifact(target, revision)
  const { oid, slug, stored } = revision
  const plan = async (open: OpenTarget): Promise<MergePlan> => {
    const [parent] = stored.commit.parents
    if (parent === undefined) throw firstRevision(slug)
    const latest = latestIn(open, target)
    const { bases } = open
    return {
      kind: 'revert',
      base: oid,
      sides: {
        base: await mergeSide(bases, oid),
        target: await mergeSide(bases, latest),
        source: await mergeSide(bases, parent),
      },
      message: options.message,
      subject: textOfRevert(revision),
    }
  }
  const toldOf = async () => ({ kind: 'revert', base: oid }) as const
  return writeMerge(registry, target, options, context, { plan, toldOf })
}

/**
 * Applies a revision's changes to another variant, with its author and message; a merge's changes are those
 * against its first parent. Refuses unresolved conflicts. Changes that the variant already has are
 * `up_to_date`.
 */
export async function cherryPickRevision(
  registry: Registry,
  revision: Revision,
  target: VariantLocation,
  options: MergeOptions,
  context: WriteContext,
): Promise<Merged> {
  assertSameArtifact(target, revision)
  const { oid, variant, stored } = revision
  const [parent] = stored.commit.parents
  const plan = async (open: OpenTarget): Promise<MergePlan> => {
    assertActive('variant', variant.slug, open.state.variants.get(variant.slug), 'merge')
    assertRevisionActive(revision, 'merge')
    const latest = latestIn(open, target)
    const { bases } = open
    return {
      kind: 'cherry_pick',
      base: parent,
      sides: {
        base: parent === undefined ? NOTHING : await mergeSide(bases, parent),
        target: await mergeSide(bases, latest),
        source: await mergeSide(bases, oid),
      },
      message: options.message ?? stored.message,
      subject: stored.subject,
      author: stored.commit.author,
    }
  }
  const toldOf = async () => ({ kind: 'cherry_pick', base: parent }) as const
  return writeMerge(registry, target, options, context, { plan, toldOf })
}

/**
 * Makes on a variant what an earlier revision holds, whatever lies between: commits that revision's tree, and reads no row of it. Refuses
 * with `nothing_to_restore` if the variant holds exactly that already.
 */
export async function restoreRevision(
  registry: Registry,
  revision: Revision,
  target: VariantLocation,
  options: MergeOptions,
  context: WriteContext,
): Promise<Merged> {
  assertSameArtifact(target, revision)
  const { oid } = revision
  const plan = async (open: OpenTarget): Promise<MergePlan> => {
    assertRevisionActive(revision, 'restore')
    // The latest revision is not decoded: restoring an earlier one mends what a push has damaged.
    const latest = parseCommit(await readBytes(open.scratch, latestIn(open, target), 'commit'))
    const now = { ...NOTHING, tree: latest.tree }
    const then = await mergeSide(open.bases, oid)
    if (now.tree === then.tree) throw nothingToRestore(revision, target)
    return {
      kind: 'restore',
      base: oid,
      // What only the source changed is taken as it is.
      sides: { base: now, target: now, source: then },
      message: options.message,
      subject: textOfRestore(revision),
    }
  }
  const toldOf = async () => ({ kind: 'restore', base: oid }) as const
  return writeMerge(registry, target, options, context, { plan, toldOf })
}

function latestIn({ latest }: OpenTarget, { variant }: VariantLocation): Oid {
  if (latest !== undefined) return latest
  throw new Refusal(
    'revision_not_found',
    `The variant "${variant.slug}" has no revision yet, or all of them are archived. Commit one, or name another variant as target.`,
  )
}

/** git's text, plus the revision's slug for clients. */
function textOfRevert({ oid, slug, stored }: Revision): string {
  return `Revert "${stored.subject || slug}"\n\nThis reverts commit ${oid}, which is revision ${slug}.`
}

function textOfRestore({ oid, slug, stored }: Revision): string {
  return `Restore ${slug}\n\nThis is what commit ${oid} holds${stored.subject && `, "${stored.subject}"`}.`
}

function nothingToRestore({ slug }: Revision, { variant }: VariantLocation): Refusal {
  return new Refusal(
    'nothing_to_restore',
    `The variant "${variant.slug}" holds what "${slug}" holds, so there is nothing to restore. Name another revision, or another variant ` +
      'as target.',
  )
}

function firstRevision(slug: string): Refusal {
  return new Refusal(
    'no_parent',
    `"${slug}" is a first revision: there is nothing before it to go back to. Commit what you want in its place.`,
  )
}

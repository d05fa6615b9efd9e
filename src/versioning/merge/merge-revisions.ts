import { Refusal } from '../../errors.ts'
import { parseCommit } from '../../git/objects/commit.ts'
import type { Oid } from '../../git/objects/object.ts'
import type { TreeEntry } from '../../git/objects/tree.ts'
import type { Json, JsonObject } from '../../json/json.ts'
import type { RevisionHeader } from '../artifacts/records.ts'
import { revisionHeader } from '../artifacts/records.ts'
import type { Family, MergeContext, MergeSide, Payload, PayloadTarget, Warning } from '../family/family.ts'
import { readBytes, readTree } from '../family/tree-files.ts'
import type { Registry } from '../registry.ts'
import { REVISION_FILE } from '../revisions/decoded-revision.ts'
import { mergeFiles } from './merge-files.ts'
import { mergeValues } from './merge-values.ts'
import type { Merging, Sides } from './merging.ts'
import { eachSide } from './merging.ts'

/** A revision that is merged, or what stands for one. */
export interface MergedSide extends MergeSide {
  /** Undefined where nothing is. */
  readonly tree: Oid | undefined
  readonly header: RevisionHeader
  /** Bytes of memory that header and payload take, roughly. */
  readonly size: number
}

/** What a first revision goes on from. */
export const NOTHING: MergedSide = {
  tree: undefined,
  header: {},
  payload: undefined,
  entries: [],
  size: 0,
}

/** What comes of a merge: just what one side has, or a payload and a header that are to be written onto `before`. */
export type MergeResult =
  | { readonly is: MergedSide }
  | {
      readonly payload: Payload | undefined
      readonly header: RevisionHeader
      /** The target's root with the files in it that are no payload. */
      readonly before: readonly TreeEntry[]
      /** The source's root, which files are named after. */
      readonly other: readonly TreeEntry[]
      readonly warnings: readonly Warning[]
    }

/** Reads a commit as a side of a merge. Refuses what does not decode. */
export async function readMergeSide(
  registry: Registry,
  family: Family,
  source: PayloadTarget,
  oid: Oid,
): Promise<MergedSide> {
  const { tree } = parseCommit(await readBytes(source, oid, 'commit'))
  const { payload, header, size } = await registry.revisions(family).read(source, oid)
  return { tree, header, payload, size, entries: await readTree(source, tree) }
}

/**
 * Makes one revision of what two made of a third: payload, header and all other files. What both changed goes to `merging`. A side that
 * is as the base was gives way to the other as it is, to the byte.
 */
export async function mergeRevisions(
  family: Family,
  sides: Sides<MergedSide>,
  merging: Merging,
  context: MergeContext,
): Promise<MergeResult> {
  const { base, target, source } = sides
  if (target.tree === source.tree || base.tree === source.tree) return { is: target }
  if (base.tree === target.tree) return { is: source }
  const { payload, warnings, isPayload } = await family.merge(sides, merging, context)
  const header = await mergeHeaders(sides, merging, context)
  const isRevisionFile = (path: string): boolean => path === REVISION_FILE
  const before = await mergeFiles(
    context.target,
    {
      roots: eachSide(sides, ({ entries }) => entries),
      isLeftOut: eachSide(isPayload, (isOwn) => (path: string) => isRevisionFile(path) || isOwn(path)),
    },
    merging,
    context.slice,
  )
  if (payload === undefined && target.payload !== undefined && !merging.hasConflicts) {
    throw new Refusal(
      'missing_payload',
      'The resolutions leave no data, and the variant has data. Resolve the conflicts so that some is left.',
    )
  }
  return { payload, header, before, other: source.entries, warnings }
}

async function mergeHeaders(
  sides: Sides<MergedSide>,
  merging: Merging,
  { slice }: MergeContext,
): Promise<RevisionHeader> {
  // Headers are read from JSON and hold nothing else.
  const headers = eachSide(sides, ({ header }) => header as JsonObject)
  const work = mergeValues(headers, {}, merging, (pointer) => ({ header: pointer }))
  const merged: Json = (await slice.run(work)) ?? {}
  if (merging.hasConflicts || merging.isOfBases) return merged as RevisionHeader
  const read = revisionHeader.safeParse(merged)
  if (read.success) return read.data
  const problem = read.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ')
  throw new Refusal(
    'invalid_request',
    `The resolutions make no header of a revision: ${problem}. Send a value of the kind that the field has.`,
  )
}

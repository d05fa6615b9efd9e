import { Refusal } from '../../errors.ts'
import { parseCommit, type Oid, type TreeEntry } from '../../git/objects.ts'
import type { Json, JsonObject } from '../../base/json.ts'
import { type RevisionHeader, revisionHeader } from '../artifacts/artifact-record.ts'
import type { Family, MergeContext, MergeSide, Payload, PayloadTarget, Warning } from '../payload/family.ts'
import type { Registry } from '../store/registry.ts'
import { REVISION_FILE } from '../revisions/stored-revision.ts'
import { mergeValues } from './merge-values.ts'
import { type Merging, type Sides, eachSide, type Conflict } from './merging.ts'
import { isUtf8 } from 'node:buffer'
import type { TimeSlice } from '../../base/scheduling.ts'
import { pathPart, readBytes, readTree, withFiles } from '../payload/tree-files.ts'
import { mergeTexts } from './merge-texts.ts'

/** A side of a merge: a revision, or a virtual one. */
export interface MergedSide extends MergeSide {
  /** Undefined for an empty side. */
  readonly tree: Oid | undefined
  readonly header: RevisionHeader
  /** Approximate bytes of memory of header and payload. */
  readonly size: number
}

/** The base of a first revision. */
export const NOTHING: MergedSide = {
  tree: undefined,
  header: {},
  payload: undefined,
  entries: [],
  size: 0,
}

/** The result of a merge: one side unchanged, or a payload and a header to write onto `before`. */
export type MergeResult =
  | { readonly is: MergedSide }
  | {
      readonly payload: Payload | undefined
      readonly header: RevisionHeader
      /** The target's root with its files that are not payload. */
      readonly before: readonly TreeEntry[]
      /** The sides that determine names of files. */
      readonly onto: MergedSide
      readonly other: MergedSide
      readonly warnings: readonly Warning[]
    }

/** Reads a commit as a side of a merge. Refuses a commit that does not decode. */
export async function readMergeSide(
  registry: Registry,
  family: Family,
  source: PayloadTarget,
  oid: Oid,
): Promise<MergedSide> {
  const { tree } = parseCommit(await readBytes(source, oid, 'commit'))
  const { payload, header, size, files } = await registry.revisions(family).read(source, oid)
  return { tree, header, payload, size, files, entries: await readTree(source, tree) }
}

/**
 * Merges two revisions with their base: payload, header and all other files. `merging` gets the places that both changed. If a side equals
 * the base, the other one is taken unchanged, byte for byte.
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
  return { payload, header, before, onto: target, other: source, warnings }
}

async function mergeHeaders(
  sides: Sides<MergedSide>,
  merging: Merging,
  { slice }: MergeContext,
): Promise<RevisionHeader> {
  // Headers are read from JSON, so they contain only JSON.
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

/** Three trees whose files are merged, except those left out. */
interface FileSides {
  readonly roots: Sides<readonly TreeEntry[]>
  /** Whether a file or folder of a side is left out. */
  readonly isLeftOut: Sides<(path: string) => boolean>
}

/** Larger files are merged as a whole. */
const LONGEST_TEXT = 4 * 1024 * 1024

/** A merge of files into the target's tree. */
interface FileMerge extends Pick<FileSides, 'isLeftOut'> {
  readonly target: PayloadTarget
  /** The changes to the target's files. */
  readonly changes: Map<string, Pick<TreeEntry, 'mode' | 'oid'> | undefined>
  readonly merging: Merging
  readonly slice: TimeSlice
}

/**
 * Merges the source's changes of files into the target's root: texts by line, others as a whole. Does not read folders that are equal on
 * two sides, if that decides the result.
 */
async function mergeFiles(
  target: PayloadTarget,
  { roots, isLeftOut }: FileSides,
  merging: Merging,
  slice: TimeSlice,
): Promise<readonly TreeEntry[]> {
  const changes: FileMerge['changes'] = new Map()
  await mergeFolder({ target, changes, isLeftOut, merging, slice }, '', roots)
  return withFiles(target, roots.target, changes)
}

async function mergeFolder(
  work: FileMerge,
  path: string,
  entries: Sides<readonly TreeEntry[]>,
): Promise<void> {
  const named = eachSide(entries, (list) => new Map(list.map((entry) => [pathPart(entry), entry])))
  const names = new Set([...named.target.keys(), ...named.source.keys(), ...named.base.keys()])
  await work.slice.each(names, (name) => {
    const at = `${path}${name}`
    const entry = (side: keyof Sides<unknown>): TreeEntry | undefined =>
      work.isLeftOut[side](at) ? undefined : named[side].get(name)
    const sides = { base: entry('base'), target: entry('target'), source: entry('source') }
    return isSame(sides.target, sides.source) || isSame(sides.base, sides.source)
      ? undefined
      : mergeEntry(work, at, sides)
  })
}

async function mergeEntry(work: FileMerge, path: string, sides: Sides<TreeEntry | undefined>): Promise<void> {
  const { base, target: ours, source } = sides
  const isFolderOrNone = ({ mode } = { mode: '40000' }): boolean => mode === '40000'
  // The source's folder may contain files that are left out, so it is never taken as a whole.
  if (isFolderOrNone(base) && isFolderOrNone(ours) && isFolderOrNone(source)) {
    const below = async (entry: TreeEntry | undefined): Promise<readonly TreeEntry[]> =>
      entry ? readTree(work.target, entry.oid) : []
    return mergeFolder(work, `${path}/`, {
      base: await below(base),
      target: await below(ours),
      source: await below(source),
    })
  }
  if (!isSame(base, ours)) return mergeFile(work, path, sides)
  work.changes.set(path, source)
}

async function mergeFile(work: FileMerge, path: string, sides: Sides<TreeEntry | undefined>): Promise<void> {
  const { merging, slice } = work
  const { base, target: ours, source } = sides
  const texts = await textsOf(work, sides)
  const merged =
    texts &&
    ours &&
    source &&
    (await slice.run(
      mergeTexts({ ...texts, base: texts.base ?? '' } as Sides<string>, 'lines', merging.effort),
    ))
  if (merged && 'text' in merged) return putText(work, path, merged.text, ours)
  const isOfSource = ours === undefined
  const conflict: Conflict = {
    place: { file: shownPath(path) },
    ...(isOfSource && { in: 'source' }),
    kind: !base ? 'both_added' : isOfSource || !source ? 'changed_and_removed' : 'both_changed',
    ...(await valuesOf(work, sides)),
    ...(merged && { marked: merged.marked }),
  }
  const chosen = merging.choose(conflict)
  if (!chosen || chosen.take === 'target') return
  const { value } = chosen
  if (chosen.take) work.changes.set(path, sides[chosen.take])
  else if (chosen.remove) work.changes.set(path, undefined)
  else putText(work, path, typeof value === 'string' ? value : JSON.stringify(value), ours ?? source)
}

function putText(
  { changes, target }: FileMerge,
  path: string,
  text: string,
  like: TreeEntry | undefined,
): void {
  const mode = like?.mode === '100755' ? '100755' : '100644'
  changes.set(path, { mode, oid: target.write('blob', Buffer.from(text)) })
}

/** The texts of the existing files, if all of them are texts; else undefined. */
async function textsOf(
  work: FileMerge,
  sides: Sides<TreeEntry | undefined>,
): Promise<Sides<string | undefined> | undefined> {
  const texts = {
    base: await textOf(work, sides.base),
    target: await textOf(work, sides.target),
    source: await textOf(work, sides.source),
  }
  const isText = (side: keyof Sides<unknown>): boolean => !sides[side] || texts[side] !== undefined
  return isText('base') && isText('target') && isText('source') ? texts : undefined
}

async function textOf({ target }: FileMerge, entry: TreeEntry | undefined): Promise<string | undefined> {
  if (entry?.mode !== '100644' && entry?.mode !== '100755') return undefined
  const bytes = await readBytes(target, entry.oid, 'blob')
  const isText = bytes.length <= LONGEST_TEXT && !bytes.includes(0) && isUtf8(bytes)
  return isText ? bytes.toString('utf8') : undefined
}

/** The values that a conflict shows: texts, or the git id of a file that is not text. */
async function valuesOf(work: FileMerge, sides: Sides<TreeEntry | undefined>): Promise<Partial<Sides<Json>>> {
  const shown: Partial<Record<keyof Sides<unknown>, Json>> = {}
  for (const side of ['base', 'target', 'source'] as const) {
    const entry = sides[side]
    if (entry) shown[side] = (await textOf(work, entry)) ?? { mode: entry.mode, oid: entry.oid }
  }
  return shown
}

/** A path for an answer; a name that is not UTF-8 is approximated. */
function shownPath(path: string): string {
  const shown = (part: string): string =>
    part.startsWith('\0') ? Buffer.from(part.slice(1), 'latin1').toString('utf8') : part
  return path.split('/').map(shown).join('/')
}

function isSame(one: TreeEntry | undefined, other: TreeEntry | undefined): boolean {
  return one?.oid === other?.oid && one?.mode === other?.mode
}

import { parseCommit, type Oid, type TreeEntry } from '../../git/objects.ts'
import { type RefusalCode, Refusal } from '../../errors.ts'
import type { TimeSlice } from '../../base/scheduling.ts'
import type { Family, Warning } from '../payload/family.ts'
import { LargeDocument } from '../payload/large-document.ts'
import { RefRefused } from './ref-command.ts'
import type { Registry } from '../store/registry.ts'
import { assertHeaderLength, REVISION_FILE } from '../revisions/stored-revision.ts'
import { type ObjectReader, readBytes, readTree } from '../payload/tree-files.ts'
import { recentlyUsed } from '../../base/recently-used.ts'

/** Maximum files and folders of a commit; rows have a separate limit. */
const MOST_FILES = 1_000_000

/**
 * Checks a commit of a push or a bundle; its parent was checked before. It must decode, contain nothing that REST would refuse, and not
 * expand to more files than can be walked. Parts that are unchanged since the parent are not checked again: they were accepted once, or
 * plain git wrote them. A first push (`isFirst`) may contain data of any size that an earlier version could store. Answers warnings for the
 * pusher. Throws a RefRefused that names the commit.
 */
export async function checkRevision(
  registry: Registry,
  family: Family,
  source: ObjectReader,
  oid: Oid,
  { slice, isFirst }: { readonly slice: TimeSlice; readonly isFirst: boolean },
): Promise<readonly Warning[]> {
  const revisions = registry.revisions(family)
  const { commit, header, payload, damage } = await revisions.readForList(source, oid)
  const [parent] = commit.parents
  const entries = await readTree(source, commit.tree)
  const before = parent === undefined ? [] : await rootOf(source, parent)
  await assertWalkable(family, source, oid, { entries, before, slice })
  if (parent !== undefined && isUnchanged(family, entries, before)) return []
  if (damage) throw payloadRefused(damage)
  if (payload instanceof LargeDocument && !isFirst) throw documentTooLarge(registry, family, oid)
  try {
    assertHeaderLength(header)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    throw new RefRefused(PAYLOAD_REFUSED, `${REVISION_FILE} of commit ${oid}: ${error.message}`)
  }
  if (!payload && parent !== undefined) {
    const earlier = await revisions.readForList(source, parent)
    if (earlier.payload) throw droppedPayload(family, oid, before)
  }
  try {
    const { servicesBase, limits } = registry
    return (await family.check?.(source, entries, before, { loc: [], servicesBase, limits })) ?? []
  } catch (error) {
    if (!(error instanceof Error)) throw error
    throw new RefRefused(
      PAYLOAD_REFUSED,
      `Commit ${oid} cannot be a ${family.name} revision: ${error.message}.`,
    )
  }
}

/** Checks only the document's size, for a commit that is no revision but may become one without another push: a parent of a merge. */
export async function checkSize(
  registry: Registry,
  family: Family,
  source: ObjectReader,
  oid: Oid,
  isFirst: boolean,
): Promise<void> {
  const { payload, damage } = await registry.revisions(family).readForList(source, oid)
  if (damage?.code === 'document_too_large') throw payloadRefused(damage)
  if (payload instanceof LargeDocument && !isFirst) throw documentTooLarge(registry, family, oid)
}

function documentTooLarge({ limits }: Registry, { name }: Family, oid: Oid): RefRefused {
  return new RefRefused(
    DOCUMENT_TOO_LARGE,
    `Commit ${oid} brings ${name} data that unfolds to more than ${limits.maxDocumentBytes} bytes, its texts filled in. Make it smaller in ` +
      `that commit (git commit --amend, or git rebase -i for an older one), or ask the operator for a higher MAX_DOCUMENT_BYTES.`,
  )
}

/** Checks only whether a commit, whose parent was checked before, expands to more files or rows than can be walked. */
export async function checkShape(
  family: Family,
  source: ObjectReader,
  oid: Oid,
  slice: TimeSlice,
): Promise<void> {
  const { tree, parents } = parseCommit(await readBytes(source, oid, 'commit'))
  const entries = await readTree(source, tree)
  const before = parents[0] === undefined ? [] : await rootOf(source, parents[0])
  await assertWalkable(family, source, oid, { entries, before, slice })
  try {
    await family.assertWalkable?.(source, entries, before)
  } catch (error) {
    if (!(error instanceof Error)) throw error
    throw new RefRefused(
      PAYLOAD_REFUSED,
      `Commit ${oid} cannot be a ${family.name} revision: ${error.message}.`,
    )
  }
}

/** The refusal of a payload that does not decode. */
export function payloadRefused({ code, message }: Refusal): RefRefused {
  return new RefRefused(REASONS[code] ?? PAYLOAD_REFUSED, message)
}

const DOCUMENT_TOO_LARGE = 'document too large'
const REASONS: Readonly<Partial<Record<RefusalCode, string>>> = {
  unsupported_format: 'unsupported format',
  document_too_large: DOCUMENT_TOO_LARGE,
}

/** Git's table shows this for an invalid payload. */
const PAYLOAD_REFUSED = 'payload refused'

async function rootOf(source: ObjectReader, commit: Oid): Promise<readonly TreeEntry[]> {
  return readTree(source, parseCommit(await readBytes(source, commit, 'commit')).tree)
}

/** The root of a commit, and that of its parent. */
interface Roots {
  readonly entries: readonly TreeEntry[]
  readonly before: readonly TreeEntry[]
  readonly slice: TimeSlice
}

/** The testset family counts rows, because it knows their limit. */
async function assertWalkable(
  { rowsFolder }: Family,
  source: ObjectReader,
  oid: Oid,
  { entries, before, slice }: Roots,
): Promise<void> {
  const known = new Map(before.map((entry) => [entry.name, entry.oid]))
  const others = entries.filter(({ name }) => name !== rowsFolder)
  if (others.every((entry) => known.get(entry.name) === entry.oid)) return
  if ((await unfoldedSize(source, others, MOST_FILES, slice)) <= MOST_FILES) return
  throw new RefRefused(
    'too many files',
    `Commit ${oid} unfolds to more than ${MOST_FILES} files and folders, which is the most a revision may hold: its trees name ` +
      `the same folders again and again. Take them out of that commit (git rebase -i).`,
  )
}

/** Whether the entries of payload and header equal the parent's. */
function isUnchanged(family: Family, entries: readonly TreeEntry[], before: readonly TreeEntry[]): boolean {
  const textOf = (some: readonly TreeEntry[]): string =>
    some
      .filter(({ name }) => name === REVISION_FILE || family.ownsFile(name))
      .map(({ mode, name, oid }) => `${mode} ${oid} ${name}`)
      .join('\n')
  return textOf(entries) === textOf(before)
}

/** Only a variant's first revision may be without a payload (interface 4.2). */
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

/** How many files and folders lie below a tree. It never changes. */
const sizes = recentlyUsed<Oid, number>(500_000, () => 1)

/**
 * The number of files and folders below these entries of a tree, or some number above `most` if there are more. A few objects can expand to
 * more files than can be walked, because a tree may repeat one folder again and again. So each tree is read once, and at most `most`
 * entries are visited.
 */
async function unfoldedSize(
  source: ObjectReader,
  entries: readonly TreeEntry[],
  most: number,
  slice: TimeSlice,
): Promise<number> {
  let size = entries.length
  for (const { mode, oid } of entries) {
    if (size > most) break
    if (mode !== '40000') continue
    size += sizes.get(oid) ?? (await sizeBelow(source, oid, most - size, slice))
  }
  return size
}

async function sizeBelow(source: ObjectReader, tree: Oid, most: number, slice: TimeSlice): Promise<number> {
  if (slice.isOver) await slice.rest()
  const size = await unfoldedSize(source, await readTree(source, tree), most, slice)
  if (size <= most) sizes.set(tree, size)
  return size
}

import type { RefusalCode } from '../../errors.ts'
import { isRefName, type AllRefs } from '../../git/refs.ts'
import { parseCommit, type Oid, parseTag } from '../../git/objects.ts'
import { fsck, gitEnvironment, listObjects } from '../../git/program.ts'
import type { Repository } from '../../git/store.ts'
import { TimeSlice } from '../../base/scheduling.ts'
import type { ArtifactState } from './artifact-record.ts'
import { META_REF } from './artifact-record.ts'
import type { ArtifactView } from './artifact-view.ts'
import { viewArtifact } from './artifact-view.ts'
import type { PushLimits } from '../push/check-pushed-objects.ts'
import { checkPushedObjects } from '../push/check-pushed-objects.ts'
import { checkShape, payloadRefused } from '../push/check-revision.ts'
import type { Family } from '../payload/family.ts'
import { parseUuid } from '../store/ids.ts'
import { NamesInUse } from '../slugs/claim-slugs.ts'
import { assertNewBranch, assertNewTag, RefRefused } from '../push/ref-command.ts'
import type { Registry } from '../store/registry.ts'
import { slugProblem } from '../slugs/slug.ts'
import { readBytes, readTree } from '../payload/tree-files.ts'

/**
 * Maximum size of a payload, record or note: writes over REST may exceed the limits of a push, and must be
 * restorable.
 */
const LARGEST_OF_OURS = 256 * 1024 * 1024

/** A tag may point to a tag. */
const MAX_TAG_DEPTH = 8

/** A restored repository that does not have its name yet. */
export interface RestoredCopy {
  readonly family: Family
  readonly slug: string
  readonly refs: AllRefs
  readonly limits: PushLimits
  readonly signal?: AbortSignal | undefined
}

/**
 * Checks a restored repository like a push, before it is visible: whole objects, heads and tags that are
 * revisions, a valid record, and names that do not clash. Payloads of older revisions may exceed what a
 * commit may bring today. Throws a RefRefused, or a Refusal for unreadable content.
 */
export async function checkRestored(
  registry: Registry,
  repository: Repository,
  { family, slug, refs, limits, signal }: RestoredCopy,
): Promise<ArtifactView> {
  const slice = new TimeSlice(signal)
  const [problem] = await fsck(repository.path)
  if (problem !== undefined) throw new RefRefused('damaged', `git fsck --strict says: ${problem}.`)
  await slice.each(refs.refs, ([ref, oid]) => checkRef(repository, ref, oid))
  const revisions = [...refs.refs].flatMap(([ref, oid]) => (/^refs\/(heads|tags)\//.test(ref) ? oid : []))
  const objects = (except: readonly Oid[]) => ({
    read: (oid: Oid) => repository.objects.read(oid),
    newObjects: (tips: readonly Oid[], stop?: AbortSignal) =>
      listObjects({ gitdir: repository.path, env: gitEnvironment(), tips, except, signal: stop }),
  })
  const largestOfPayload = family.rowsFolder === undefined ? registry.limits.maxBytes : LARGEST_OF_OURS
  const ofOurs = (path: string): number => (family.ownsFile(path) ? largestOfPayload : limits.maxBlobBytes)
  const stop = signal ?? new AbortController().signal
  const ours = { ...limits, maxBytesOf: ofOurs, allowsDeviceNames: true }
  await checkPushedObjects(objects([]), revisions, ours, stop)
  const others = { maxBlobBytes: LARGEST_OF_OURS, allowsDeviceNames: true }
  await checkPushedObjects(objects(revisions), [...refs.refs.values()], others, stop)
  const view = await viewArtifact(registry.revisions(family), slug, repository, repository.refs.shared())
  checkRecord(view)
  await checkRecordNames(view)
  checkNames(view, refs.refs)
  await checkHistory(view, slice)
  return view
}

async function checkRef({ objects }: Repository, ref: string, oid: Oid): Promise<void> {
  if (!isRefName(ref))
    throw new RefRefused('not a ref', `${JSON.stringify(ref)} cannot be the name of a ref.`)
  if (!/^refs\/(heads|tags|meta)\//.test(ref)) return
  let object = await objects.read(oid)
  for (
    let depth = 0;
    object?.kind === 'tag' && ref.startsWith('refs/tags/') && depth < MAX_TAG_DEPTH;
    depth++
  )
    object = await objects.read(parseTag(object.bytes).object)
  if (object?.kind === 'commit') return
  throw new RefRefused(
    'not a commit',
    `${ref} names ${oid}, which is not a commit but ${object?.kind ?? 'missing'}.`,
  )
}

/** Checks the artifact's own record. */
function checkRecord({ family, record, id }: ArtifactView): void {
  if (parseUuid(id) !== id) throw damagedRecord(`the id ${JSON.stringify(id)} is no UUID`)
  if (record.kind !== family.name)
    throw damagedRecord(`it is of the kind ${JSON.stringify(record.kind)}, not a ${family.name}`)
}

/** Refuses records of no variant or revision: readers skip such files, so they would stay hidden. */
async function checkRecordNames({ repository, metaCommit, source }: ArtifactView): Promise<void> {
  const { objects } = repository
  const { tree } = parseCommit(await readBytes(objects, metaCommit, 'commit'))
  for (const folder of await readTree(objects, tree)) {
    const known = KNOWN[folder.name]
    if (!known || folder.mode !== '40000') continue
    const names = known(source.state)
    const odd = (await readTree(objects, folder.oid)).find(
      ({ name }) => !names.has(name.replace(/\.json$/, '')),
    )
    if (odd) throw damagedRecord(`it holds ${folder.name}/${odd.name}, which is the name of none of them`)
  }
}

/** By folder: the names that readers look up. */
const KNOWN: Readonly<Record<string, (state: ArtifactState) => ReadonlyMap<string, unknown>>> = {
  variants: ({ variants }) => variants,
  archived: ({ archived }) => archived,
}

function damagedRecord(why: string): RefRefused {
  return new RefRefused('damaged record', `${META_REF} is not right: ${why}.`)
}

/** Checks names as for a push, within the repository only (interface 5.9). */
function checkNames({ variants, tags }: ArtifactView, refs: AllRefs['refs']): void {
  const names = new NamesInUse()
  for (const { slug } of variants) {
    assertNewBranch(names, slug, true)
    names.addVariant(slug)
  }
  for (const tag of tags.keys()) {
    if (slugProblem(tag) !== undefined) continue
    assertNewTag(names, tag)
    names.addTag(tag)
  }
  for (const ref of refs.keys()) {
    for (let at = ref.lastIndexOf('/'); at > 0; at = ref.lastIndexOf('/', at - 1)) {
      if (!refs.has(ref.slice(0, at))) continue
      throw new RefRefused('name clash', `git can have no ${ref} beside ${ref.slice(0, at)}.`)
    }
  }
}

/** Refused even for older revisions. */
const NEVER_RESTORED: readonly RefusalCode[] = ['unsupported_format', 'document_too_large']

/**
 * Checks every commit on a branch or tag: none may expand to more than can be walked, or have the format of a later server, and the newest
 * must decode.
 */
async function checkHistory(view: ArtifactView, slice: TimeSlice): Promise<void> {
  const { family, repository, revisions, variants, tags } = view
  const { objects, history } = repository
  const tips = new Set([...variants.flatMap(({ head }) => head ?? []), ...tags.values()])
  const seen = new Set<Oid>()
  await slice.each(tips, async (tip) => {
    for (let node = await history.node(tip); !seen.has(node.oid); node = node.parent ?? node) {
      seen.add(node.oid)
      const { damage } = await revisions.readForList(objects, node.oid)
      if (damage && (tips.has(node.oid) || NEVER_RESTORED.includes(damage.code))) throw payloadRefused(damage)
      await checkShape(family, objects, node.oid, slice)
      if (slice.isOver) await slice.rest()
    }
  })
}

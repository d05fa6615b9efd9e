import { parseCommit, type Oid } from '../../git/objects/object.ts'
import type { Transaction } from '../../git/transactions/transaction.ts'
import { equalInSlices } from '../../json/diff/equal-json.ts'
import type { Json } from '../../json/json.ts'
import { TimeSlice } from '../../scheduling/cooperative.ts'
import { documentOf } from '../family/document-family.ts'
import type { Family } from '../family/family.ts'
import { LargeDocument } from '../family/large-document.ts'
import { type ObjectReader, readBytes, readTree } from '../family/tree-files.ts'
import { numberedBase } from '../slugs/slug.ts'
import type { VariantLocation } from './references.ts'
import { REVISION_FILE, type StoredRevision } from './stored-revision.ts'

/** Whether a revision has the slug that is asked for, as its tag or as its version on the variant; any has none. */
export async function hasSlug(
  { artifact, variant }: VariantLocation,
  oid: Oid,
  slug: string | undefined,
  transaction: Transaction,
): Promise<boolean> {
  if (slug === undefined) return true
  if (transaction.ref(`refs/tags/${slug}`) === oid) return true
  if (numberedBase(slug) !== variant.slug) return false
  const { objects, history } = artifact.repository
  let stored: Oid | undefined = oid
  let version = 0
  // The newest may not be on the disk yet.
  for (; stored !== undefined && !(await objects.has(stored)); version++) {
    stored = parseCommit(await readBytes(transaction, stored, 'commit')).parents[0]
  }
  if (stored !== undefined) version += (await history.node(stored)).depth
  return slug === `${variant.slug}-${version}`
}

/** Whether two revisions say the same, their messages aside: of documents and headers as JSON, so that the order of keys does not count. */
export async function saySame(
  family: Family,
  source: ObjectReader,
  one: StoredRevision,
  other: StoredRevision,
): Promise<boolean> {
  if (one.commit.tree === other.commit.tree) return true
  // Of what does not decode, or is larger than a commit can be, no commit says the same.
  if (other.damage || other.payload instanceof LargeDocument) return false
  const slice = new TimeSlice()
  if (family.rowsFolder !== undefined) {
    const filesOf = async ({ commit }: StoredRevision): Promise<readonly string[]> =>
      (await readTree(source, commit.tree)).flatMap(({ name, oid }) =>
        name === REVISION_FILE ? [] : `${oid} ${name}`,
      )
    if ((await filesOf(one)).join('\n') !== (await filesOf(other)).join('\n')) return false
    return equalInSlices(one.header as Json, other.header as Json, slice)
  }
  const contentOf = ({ header, payload }: StoredRevision): Json => [
    header as Json,
    payload === undefined ? null : documentOf(payload),
  ]
  return equalInSlices(contentOf(one), contentOf(other), slice)
}

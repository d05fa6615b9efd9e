import { parseCommit, type Oid } from '../../git/objects.ts'
import type { Transaction } from '../../git/transactions.ts'
import { equalInSlices } from '../../base/diff.ts'
import type { Json } from '../../base/json.ts'
import { TimeSlice } from '../../base/scheduling.ts'
import { documentOf } from '../payload/document-family.ts'
import type { Family } from '../payload/family.ts'
import { LargeDocument } from '../payload/large-document.ts'
import { type ObjectReader, readBytes, readTree } from '../payload/tree-files.ts'
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

import type { Oid } from '../../git/object.ts'
import type { Repository } from '../../git/repository.ts'
import type { ArtifactView } from '../../versioning/artifact-view.ts'
import type { Family } from '../../versioning/family.ts'
import { objectUuid, oidPrefix, repositoryDigits } from '../../versioning/ids.ts'
import type { Registry } from '../../versioning/registry.ts'
import { readBytes } from '../../versioning/tree-files.ts'
import { RowHistory } from './row-history.ts'
import { decodeRow, inColumnOrder } from './stored-row.ts'

/** A testcase by itself: what follows from its content alone (ruling 5.2a). */
export interface Testcase {
  readonly testset: ArtifactView
  readonly oid: Oid
}

/** The histories of the testsets that were asked for testcases; a million rows take some ten megabytes. */
const histories = new WeakMap<Repository, RowHistory>()

/** The testcase of this id, for ever (interface 3.4): a row of some revision, of now or of long ago; undefined if none is. */
export async function findTestcase(
  registry: Registry,
  family: Family,
  id: string,
): Promise<Testcase | undefined> {
  const testset = await registry.index.findByDigits(repositoryDigits(id))
  if (testset?.family !== family) return undefined
  const oid = await findRow(testset, id)
  return oid === undefined ? undefined : { testset, oid }
}

/** A testcase as a record. Without a revision there are no columns to order its keys by, so they are sorted. */
export async function presentTestcaseAlone({ testset, oid }: Testcase): Promise<object> {
  const data = decodeRow(await readBytes(testset.repository.objects, oid, 'blob'), () => `the row ${oid}`)
  return {
    id: objectUuid(oid, testset.digits),
    testset_id: testset.id,
    set_id: testset.id,
    data: inColumnOrder(data, []),
  }
}

async function findRow(
  { repository, digits, variants, tags }: ArtifactView,
  id: string,
): Promise<Oid | undefined> {
  const known = histories.get(repository)
  const history = known ?? new RowHistory(repository.objects)
  if (!known) histories.set(repository, history)
  const tips = [...tags.values(), ...variants.flatMap(({ head }) => head ?? [])]
  for (const oid of await repository.objects.startingWith(oidPrefix(id))) {
    if (objectUuid(oid, digits) === id && (await history.holds(oid, tips))) return oid
  }
  return undefined
}

import type { Oid } from '../../../git/objects.ts'
import type { Repository } from '../../../git/store.ts'
import { stringifyJson } from '../../../base/json.ts'
import type { TimeSlice } from '../../../base/scheduling.ts'
import type { ArtifactView } from '../../artifacts/artifact-view.ts'
import type { Family } from '../../payload/family.ts'
import { readBytes } from '../../payload/tree-files.ts'
import { objectUuid, oidPrefix, repositoryDigits } from '../../store/ids.ts'
import type { Registry } from '../../store/registry.ts'
import { commaSeparated, inBatches } from '../present-testset.ts'
import type { RowEntry } from './row-entry.ts'
import { RowHistory } from './row-history.ts'
import { decodeRow, inColumnOrder } from './stored-row.ts'
import { rowBytes, rowEntriesOf } from './stored-rows.ts'

/** A testcase without its revision: what follows from its content alone (interface 8.7). */
export interface Testcase {
  readonly testset: ArtifactView
  readonly oid: Oid
}

/** Row histories of testsets that were searched; a million rows take about ten megabytes. */
const histories = new WeakMap<Repository, RowHistory>()

/**
 * Finds the testcase with this id in any revision, past or present (interface 8.2); undefined if there is
 * none.
 */
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

export interface TestcaseGroup {
  readonly testset: ArtifactView
  readonly oids: readonly Oid[]
}

/** Finds the testcases with these ids, in order; unknown ids are skipped. */
export async function findTestcases(
  registry: Registry,
  family: Family,
  ids: readonly string[],
  slice: TimeSlice,
): Promise<readonly TestcaseGroup[]> {
  const groups: { readonly testset: ArtifactView; readonly oids: Oid[] }[] = []
  for (const id of ids) {
    const found = await findTestcase(registry, family, id)
    if (slice.isOver) await slice.rest()
    if (!found) continue
    const last = groups.at(-1)
    if (last?.testset === found.testset) last.oids.push(found.oid)
    else groups.push({ testset: found.testset, oids: [found.oid] })
  }
  return groups
}

/** Writes a list of testcases as JSON records, in pieces. */
export async function* writeTestcases(
  groups: readonly TestcaseGroup[],
  slice: TimeSlice,
): AsyncGenerator<string> {
  yield '['
  yield* commaSeparated(bytesOf(groups, slice), (row) => stringifyJson(recordOf(row)), slice)
  yield ']'
}

interface TestcaseBytes extends Testcase {
  readonly data: Buffer
}

async function* bytesOf(
  groups: readonly TestcaseGroup[],
  slice: TimeSlice,
): AsyncGenerator<readonly TestcaseBytes[]> {
  for (const { testset, oids } of groups) {
    for await (const rows of rowBytes(testset.repository.objects, batchesOf(oids), slice))
      yield rows.map(({ row: { oid }, data }) => ({ testset, oid, data }))
  }
}

function* batchesOf(oids: readonly Oid[]): Generator<readonly RowEntry[]> {
  for (const batch of inBatches(oids)) yield rowEntriesOf(batch)
}

/** A testcase as a record. Its keys are sorted, since there is no revision whose columns could order them. */
export async function presentTestcaseAlone({ testset, oid }: Testcase): Promise<object> {
  return recordOf({ testset, oid, data: await readBytes(testset.repository.objects, oid, 'blob') })
}

function recordOf({ testset, oid, data }: TestcaseBytes): object {
  return {
    id: objectUuid(oid, testset.digits),
    testset_id: testset.id,
    set_id: testset.id,
    data: inColumnOrder(
      decodeRow(data, () => `the row ${oid}`),
      [],
    ),
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

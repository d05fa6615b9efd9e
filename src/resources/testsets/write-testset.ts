import { Refusal } from '../../errors.ts'
import type { TreeEntry } from '../../git/tree.ts'
import type { PayloadTarget } from '../../versioning/family.ts'
import type { ObjectSource } from '../../versioning/tree-files.ts'
import { collectSent } from './collect-sent.ts'
import { findNamed } from './find-named.ts'
import { areColumnsNoted, noteColumns } from './listed-columns.ts'
import type { TestsetLimits } from './row-collector.ts'
import { placeRows, rowChanges } from './place-rows.ts'
import type { RowEntry } from './row-tree.ts'
import { editRows } from './row-tree.ts'
import { rowKeys } from './row-index.ts'
import { ROW_KEYS_FILE } from './row-keys.ts'
import { allRows, readBlobs } from './stored-rows.ts'
import { decodeRow, dedupIdOf } from './stored-row.ts'
import type { CollectedTestset, NamedTestset, SentTestset, TestsetPayload } from './testset-payload.ts'
import { readTestset, rowsIn, writeTestsetEntries } from './testset-tree.ts'

/** Writes a testset onto the one in the parent's root, such that git shows the rows that changed and no others. */
export async function writeTestset(
  target: PayloadTarget,
  payload: TestsetPayload,
  before: readonly TreeEntry[],
  limits: TestsetLimits,
): Promise<readonly TreeEntry[]> {
  if (payload.kind === 'stored') return writeTestsetEntries(target, payload.tree, payload.columns)
  if (payload.kind === 'edited') {
    const edited = await editRows(target, payload.base.tree, payload.changes)
    if (areColumnsNoted(payload.base)) noteColumns({ kind: 'stored', tree: edited, columns: payload.columns })
    return writeTestsetEntries(target, edited, payload.columns)
  }
  const base = await allRows(target, rowsIn(before))
  const { rows, columns, pack } = await collect(target, payload, { before, base, limits })
  if (pack) target.adopt(pack)
  const positions = await placeRows(base, rows, (indexes) => dedupIdsAt(target, base, indexes))
  const placed = rows.map(({ oid, meta }, index) => ({ position: positions[index] ?? '', oid, meta }))
  const tree = await editRows(target, rowsIn(before), rowChanges(base, placed))
  if (tree !== undefined) await rowKeys.seed(target, tree, rows.values(), target.derived?.(ROW_KEYS_FILE))
  if (payload.kind !== 'named') noteColumns({ kind: 'stored', tree, columns })
  return writeTestsetEntries(target, tree, columns)
}

async function collect(
  target: PayloadTarget,
  payload: SentTestset | NamedTestset | CollectedTestset,
  onto: {
    readonly before: readonly TreeEntry[]
    readonly base: readonly RowEntry[]
    readonly limits: TestsetLimits
  },
): Promise<CollectedTestset> {
  if (payload.kind === 'collected') return payload
  if (payload.kind === 'sent') return collectSent(target, payload.rows, onto.base, onto.limits)
  return findNamed(target, payload, onto.base, await readTestset(target, onto.before))
}

async function dedupIdsAt(
  source: ObjectSource,
  base: readonly RowEntry[],
  indexes: readonly number[],
): Promise<(string | undefined)[]> {
  const oids = indexes.flatMap((index) => base[index]?.oid ?? [])
  const dedupIds: (string | undefined)[] = []
  for (let at = 0; at < oids.length; at += AT_ONCE) {
    for (const bytes of await readBlobs(source, oids.slice(at, at + AT_ONCE))) dedupIds.push(dedupIdIn(bytes))
  }
  return dedupIds
}

/** A row that git damaged has none, so that other rows can take its place. */
function dedupIdIn(bytes: Buffer): string | undefined {
  try {
    return dedupIdOf(decodeRow(bytes))
  } catch (error) {
    if (error instanceof Refusal) return undefined
    throw error
  }
}

const AT_ONCE = 512

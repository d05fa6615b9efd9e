import type { TreeEntry } from '../../git/objects/tree.ts'
import type { Family, StoredPayload } from '../../versioning/family/family.ts'
import type { ObjectReader } from '../../versioning/family/tree-files.ts'
import { acceptTestset } from './accept-testset.ts'
import { applyRowDelta } from './deltas/apply-row-delta.ts'
import { assertCountable, checkRows } from './rows/check-rows.ts'
import { diffTestsets } from './diff-testsets.ts'
import { mergeTestsets } from './merge/merge-testsets.ts'
import { presentTestset } from './present-testset.ts'
import type { TestsetLimits } from './import/row-collector.ts'
import { onlyAddsRows, parseRowDelta } from './deltas/row-delta.ts'
import { asStored, asTestset } from './testset-payload.ts'
import { isTestsetFile, readTestset, ROWS_FOLDER } from './testset-tree.ts'
import { writeTestset } from './import/write-testset.ts'

/** Testsets: immutable rows, each a blob of its own (interface 8.1, 15.5). */
export function testsetFamily(limits: TestsetLimits): Family {
  return {
    name: 'testset',
    folder: 'testsets',
    roles: ['search'],
    flagNames: [],
    ownsFile: isTestsetFile,
    rowsFolder: ROWS_FOLDER,
    write: async (target, payload, before) => {
      const written = await writeTestset(target, asTestset(payload), before, limits)
      return { ...written, stored: await readStored(target, written.entries) }
    },
    read: readStored,
    check: (source, entries, before) => checkRows(source, entries, before, limits),
    assertWalkable: (source, entries, before) => assertCountable(source, entries, before, limits),
    accept: acceptTestset,
    applyDelta: async (base, delta, { loc, target, isExisting = false }) => {
      const stored = base ? asStored(base) : NO_ROWS
      const changes = await parseRowDelta(delta, loc, isExisting)
      return { payload: await applyRowDelta(target, stored, changes, limits, isExisting), warnings: [] }
    },
    mayRebase: onlyAddsRows,
    warnings: () => [],
    flags: () => ({}),
    present: (payload, context) => presentTestset(asStored(payload), context),
    diff: diffTestsets,
    merge: (sides, merging, context) => mergeTestsets(sides, merging, context, limits),
  }
}

async function readStored(
  source: ObjectReader,
  entries: readonly TreeEntry[],
): Promise<StoredPayload | undefined> {
  const payload = await readTestset(source, entries)
  return payload && { payload, size: 200 + 50 * payload.columns.length }
}

const NO_ROWS = { kind: 'stored', tree: undefined, columns: [] } as const

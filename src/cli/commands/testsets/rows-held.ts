import { countRows } from '../../../resources/testsets/rows/row-tree.ts'
import type { StoredTestset } from '../../../resources/testsets/testset-payload.ts'
import { asStored } from '../../../resources/testsets/testset-payload.ts'
import type { Revision } from '../../../versioning/revisions/revision.ts'

/** The rows and columns of a revision; empty without a payload. */
export function testsetOf({ stored }: Revision): StoredTestset {
  return stored.payload ? asStored(stored.payload) : NO_ROWS
}

export function rowsHeld(revision: Revision): Promise<number> {
  return countRows(revision.artifact.repository.objects, testsetOf(revision).tree, new Map())
}

const NO_ROWS = { kind: 'stored', tree: undefined, columns: [] } as const

import { countRows, type StoredTestset, asStored } from '../../registry/testsets.ts'
import type { Revision } from '../../registry/revisions.ts'

/** The rows and columns of a revision; empty without a payload. */
export function testsetOf({ stored }: Revision): StoredTestset {
  return stored.payload ? asStored(stored.payload) : NO_ROWS
}

export function rowsHeld(revision: Revision): Promise<number> {
  return countRows(revision.artifact.repository.objects, testsetOf(revision).tree, new Map())
}

const NO_ROWS = { kind: 'stored', tree: undefined, columns: [] } as const

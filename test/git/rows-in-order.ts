import type { PackEntryTable } from '../../src/git/packs/streaming-pack-writer.ts'

/** The rows of a table in order of their ids, without a rest. */
export function rowsInOrder(table: PackEntryTable): Uint32Array {
  const ordering = table.inOrder()
  let step = ordering.next()
  while (!step.done) step = ordering.next()
  return step.value
}

import { commitBytes } from './commit-bytes.ts'
import { encodeTree } from '../../../src/git/objects/object.ts'
import type { Transaction } from '../../../src/git/transactions/transaction.ts'

/** Commits on top of what the branch holds. */
export function commitOn(transaction: Transaction, ref: string, message: string, tree?: string): string {
  const parent = transaction.ref(ref)
  const parents = parent === undefined ? [] : [parent]
  const bytes = commitBytes(parents, message, tree ?? transaction.write('tree', encodeTree([])))
  const oid = transaction.write('commit', bytes)
  transaction.move(ref, oid)
  return oid
}

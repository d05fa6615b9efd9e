import { encodeCommit } from '../../src/git/objects/commit.ts'
import type { Transaction } from '../../src/git/transactions/transaction.ts'
import { encodeTree } from '../../src/git/objects/tree.ts'

/** Commits on top of what the branch holds. */
export function commitOn(transaction: Transaction, ref: string, message: string, tree?: string): string {
  const parent = transaction.ref(ref)
  const parents = parent === undefined ? [] : [parent]
  const bytes = commitBytes(parents, message, tree ?? transaction.write('tree', encodeTree([])))
  const oid = transaction.write('commit', bytes)
  transaction.move(ref, oid)
  return oid
}

/** A commit by nobody in particular. */
export function commitBytes(parents: readonly string[], message: string, tree: string): Buffer {
  const author = { name: 'Ann', email: 'ann@example.com', seconds: 1_700_000_000, timezone: '+0000' }
  return encodeCommit({ tree, parents, author, committer: author, message })
}

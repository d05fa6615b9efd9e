import type { Oid } from '../git/objects/object.ts'
import type { Transaction } from '../git/transactions/transaction.ts'
import { META_REF, writeArtifactState } from './artifact-state.ts'
import type { MetaChange, WriteContext } from './change-artifact.ts'
import type { Registry } from './registry.ts'
import { writeCommit } from './write-commit.ts'

/** Adds a commit that makes the change to refs/meta/artifact, whose head is given, in the transaction; answers it. */
export async function commitChange(
  registry: Registry,
  head: Oid,
  change: MetaChange,
  context: WriteContext,
  transaction: Transaction,
): Promise<Oid> {
  const commit = {
    tree: await writeArtifactState(transaction, head, change, registry.limits),
    parent: head,
    message: change.subject,
    now: registry.now(),
  }
  const oid = writeCommit(registry, transaction, commit, context)
  transaction.move(META_REF, oid)
  return oid
}

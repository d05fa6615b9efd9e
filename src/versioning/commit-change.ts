import { encodeCommit } from '../git/commit.ts'
import type { Oid } from '../git/object.ts'
import type { Transaction } from '../git/transaction.ts'
import { META_REF, writeArtifactState } from './artifact-state.ts'
import type { MetaChange, WriteContext } from './change-artifact.ts'
import { encodeMessage } from './commit-message.ts'
import type { Registry } from './registry.ts'
import { signatureOf } from './signature.ts'

/** Adds a commit that makes the change to refs/meta/artifact, whose head is given, in the transaction. */
export async function commitChange(
  registry: Registry,
  head: Oid,
  change: MetaChange,
  { actor, idempotencyKey }: WriteContext,
  transaction: Transaction,
): Promise<void> {
  const signature = signatureOf(actor, registry.now())
  const commit = encodeCommit({
    tree: await writeArtifactState(transaction, head, change),
    parents: [head],
    author: signature,
    committer: signature,
    message: encodeMessage({
      message: change.subject,
      trailers: idempotencyKey === undefined ? {} : { idempotencyKey },
    }),
  })
  transaction.move(META_REF, transaction.write('commit', commit))
}

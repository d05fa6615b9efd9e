import type { Transaction } from '../../git/transactions/transaction.ts'
import type { ArtifactView } from '../artifacts/artifact-view.ts'
import type { PayloadTarget } from './family.ts'

/** Where a family writes the payload of a revision that a transaction on the artifact makes. */
export function payloadTarget(
  { id, repository, tags }: ArtifactView,
  transaction: Transaction,
): PayloadTarget {
  const { objects } = repository
  return {
    artifactId: id,
    gitdir: repository.path,
    read: (oid) => transaction.read(oid),
    readMany: (oids, run, enough) => transaction.readMany(oids, run, enough),
    write: (kind, bytes) => transaction.write(kind, bytes),
    adopt: (pack) => transaction.adopt(pack),
    derived: (name) => transaction.cacheFile(name),
    startingWith: (prefix) => objects.startingWith(prefix),
    tips: () => [...tags.values(), ...transaction.refs('refs/heads/').values()],
  }
}

import { leftovers } from '../git/leftovers.ts'
import type { Oid } from '../git/object.ts'
import type { ArtifactView } from './artifact-view.ts'
import type { Registry } from './registry.ts'
import type { MissingRef } from './repair-artifact.ts'
import type { Finding } from './verify-finding.ts'
import { derived } from './verify-finding.ts'

/**
 * What a crash cut off and the next start of a server would finish: refs that do not follow from their refs of truth (a fork's
 * branch, a chosen slug's tag, HEAD), and files of processes that are dead. A ref that was `recorded` elsewhere was not cut off
 * but lost later, which is for `verifyHeads` to tell, and no repair.
 */
export function verifyRefs(
  registry: Registry,
  artifact: ArtifactView,
  {
    missing,
    recorded,
  }: { readonly missing: readonly MissingRef[]; readonly recorded: ReadonlyMap<string, Oid> },
): readonly Finding[] {
  const { fs, path } = artifact.repository
  const findings = missing
    .filter(({ ref, target }) => (recorded.get(ref) ?? target) === target)
    .map((it) =>
      derived(`${it.ref} does not follow from its ref of truth; it should be ${it.target}.`, () =>
        moveRef(registry, artifact, it),
      ),
    )
  const left = leftovers(fs, path)
  if (left.length === 0) return findings
  const sweep = async (): Promise<string> => {
    await artifact.repository.sweepLeftovers()
    return `removed ${left.join(', ')}`
  }
  return [...findings, derived(`A dead process left ${left.join(', ')}.`, sweep)]
}

async function moveRef(
  registry: Registry,
  { repository, family, slug }: ArtifactView,
  { ref, target }: MissingRef,
): Promise<string> {
  await repository.transact(async (transaction) => {
    if (ref === 'HEAD' || transaction.ref(ref) === undefined) transaction.follow(ref, target)
  })
  await registry.index.written(family, slug)
  return `moved ${ref} to ${target}`
}

import { staleFiles } from '../../git/maintenance/stale-files.ts'
import type { Oid } from '../../git/objects/object.ts'
import { isRefTarget } from '../../git/refs/ref-name.ts'
import type { ArtifactView } from '../artifacts/artifact-view.ts'
import type { Registry } from '../registry.ts'
import type { MissingRef } from './missing-refs.ts'
import type { Finding } from './finding.ts'
import { damage, derived } from './finding.ts'

/**
 * The refs that are not where records of the registry prove that they belong (a fork's branch, HEAD), and files of processes that
 * are dead. A branch that was `recorded` elsewhere went on before it was lost, which is for `verifyHeads` to tell, and no repair.
 */
export async function verifyRefs(
  registry: Registry,
  artifact: ArtifactView,
  {
    missing,
    recorded,
  }: { readonly missing: readonly MissingRef[]; readonly recorded: ReadonlyMap<string, Oid> },
): Promise<readonly Finding[]> {
  const { fs, path } = artifact.repository
  const findings: Finding[] = []
  for (const it of missing) {
    const { ref, target } = it
    if ((recorded.get(ref) ?? target) !== target) continue
    if (ref === 'HEAD' || (await isCommit(artifact, target)))
      findings.push(
        derived(`${ref} does not follow from its record; it should be ${target}.`, () =>
          moveRef(registry, artifact, it),
        ),
      )
    else
      findings.push(
        damage(
          `${ref} is gone, and where its record has it begin, ${JSON.stringify(target)}, is no commit here.`,
        ),
      )
  }
  const left = staleFiles(fs, path)
  if (left.length === 0) return findings
  const sweep = async (): Promise<string> => {
    await artifact.repository.sweepLeftovers()
    return `removed ${left.join(', ')}`
  }
  return [...findings, derived(`A dead process left ${left.join(', ')}.`, sweep)]
}

/** A record may have come with a backup, and say anything. */
async function isCommit({ repository }: ArtifactView, target: string): Promise<boolean> {
  return isRefTarget('refs/heads/any', target) && (await repository.objects.read(target))?.kind === 'commit'
}

async function moveRef(
  registry: Registry,
  { repository, family, slug }: ArtifactView,
  { ref, target }: MissingRef,
): Promise<string> {
  await repository.transact(async (transaction) => {
    if (ref === 'HEAD' || transaction.ref(ref) === undefined) transaction.setDerivedRef(ref, target)
  })
  await registry.index.written(family, slug)
  return `moved ${ref} to ${target}`
}
